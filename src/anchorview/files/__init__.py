"""Tables from the files people have: CSV, JSON lines, Excel, SQLite, Parquet, Arrow, folders of photos."""
