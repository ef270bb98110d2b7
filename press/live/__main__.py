from press.live import HTML, assemble, mark

files = assemble()
mark(files)
total = sum(file["bytes"] for file in files) / 1e6
print(
    f"Python for the browser: {len(files)} files, {total:.0f} MB, {HTML}/_live"
)
