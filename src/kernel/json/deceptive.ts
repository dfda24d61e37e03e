/**
 * Characters that steer terminals and logs, that a reader does not see although a model reads them, or that turn text around:
 * controls, formats, lone surrogates, separators and what is shown as nothing. Selectors of a variant belong to emoji.
 */
export const deceptive: RegExp = /(?![\ufe00-\ufe0f])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/** Writes a character as JSON escapes it, so that JSON text keeps its value. */
export function escapeOf(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}

/**
 * Writes out the characters of a text that a terminal obeys, that a reader does not see, or that turn text around, as JSON
 * escapes them: JSON keeps its value. Such text is safe in logs, messages and answers for models.
 *
 * @param text Text that may come from anyone.
 * @param except Characters that stay, such as `'\n\t'`. Default: none.
 * @example console.log(escapeDeceptive('invoice\u202efdp.exe\n')) // invoice\u202efdp.exe\n
 */
export function escapeDeceptive(text: string, except = ''): string {
  return text.replace(deceptive, (character) => {
    if (except.includes(character)) return character
    return character === '\n' ? '\\n' : escapeOf(character)
  })
}
