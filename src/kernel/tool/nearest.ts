const longestWord = 64
const mostEdits = 8

/**
 * Returns the names, those most similar to a word first: in another spelling, a few edits away, or containing the word. The others
 * keep their order. Takes at most about a thousand steps for each name.
 */
export function nearestFirst(names: readonly string[], word: string): string[] {
  const wanted = plain(word)
  return names
    .map((name) => ({ name, apart: apart(plain(name), wanted) }))
    .toSorted((one, other) => one.apart - other.apart)
    .map(({ name }) => name)
}

/** Drops case and separators, which models mix up: `getForecast`, `get-forecast` and `get_forecast` are equal. */
function plain(name: string): string {
  return name
    .slice(0, longestWord)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
}

function apart(name: string, word: string): number {
  const limit = Math.min(mostEdits, Math.floor(Math.max(name.length, word.length) / 3))
  const edits = editsBetween(name, word, limit)
  if (edits <= limit) return edits
  const [short, long] = name.length < word.length ? [name, word] : [word, name]
  return short.length >= 3 && long.includes(short) ? mostEdits + long.length - short.length : longestWord * 2
}

/** Returns the edit distance of two words, or `most + 1` if it is larger than `most`. */
function editsBetween(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) > most) return most + 1
  let before = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let row = 1; row <= one.length; row++) {
    const now = Array.from(before, () => most + 1)
    now[0] = row
    let least = row
    for (let column = Math.max(1, row - most); column <= Math.min(other.length, row + most); column++) {
      const changed = before[column - 1]! + (one[row - 1] === other[column - 1] ? 0 : 1)
      now[column] = Math.min(changed, before[column]! + 1, now[column - 1]! + 1)
      least = Math.min(least, now[column]!)
    }
    if (least > most) return most + 1
    before = now
  }
  return before[other.length]!
}
