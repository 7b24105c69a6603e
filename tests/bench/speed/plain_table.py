"""The floor of an index: `python plain_table.py FOLDER DATABASE` puts each file into a plain
full-text table, and does nothing else.
"""

import os
import sqlite3
import sys

folder, database = sys.argv[1:]
table = sqlite3.connect(database)
table.execute(
    "CREATE VIRTUAL TABLE t USING fts5 (file UNINDEXED, text, tokenize = 'porter unicode61')"
)


def texts():
    """Each note of the folder."""
    for name in sorted(os.listdir(folder)):
        if name.endswith(".md"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                yield name, file.read()


table.executemany("INSERT INTO t VALUES (?, ?)", texts())
table.commit()
table.close()
