"""DepthCharge: follow-up questions into what a model itself mentions, each against a fact."""
