"""The Drill-Down and Fabricate Test."""
