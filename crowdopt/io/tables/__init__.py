"""Tables of any kind, cell by cell: columns that are known, ids, labels; every complaint names its place."""
