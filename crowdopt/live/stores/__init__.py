"""Where the history of a campaign is kept: events, snapshots, tokens, replies; one class per kind of store."""
