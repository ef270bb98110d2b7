from press.live import SITE, archive, assemble, mark

files = assemble()
mark(files)
total = sum(file["bytes"] for file in files) / 1e6
print(
    f"The book with Python ({len(files)} files, {total:.0f} MB) is at {SITE}; "
    f"in one archive: {archive()} MB"
)
