// A bar chart as SVG, for pages that cannot run code; one file for each theme.

export interface Bar {
  readonly name: string
  readonly ratio: number
  readonly isOurs: boolean
}

export type Theme = 'light' | 'dark'

const colours = {
  light: { text: '#1f2328', faint: '#59636e', line: '#d1d9e0', ours: '#0969da', others: '#9aa4ae' },
  dark: { text: '#f0f6fc', faint: '#9198a1', line: '#3d444d', ours: '#4493f8', others: '#6e7781' },
} as const

const plot = 400
/** How much of a name's line a character takes at most, in bold. */
const character = 8
const right = 60
const step = 24
const top = 40

/**
 * Draws bars over a logarithmic scale: each step of the grid is ten times the one before.
 *
 * @param title What is shown, and what 1 is.
 */
export function chart(title: string, bars: readonly Bar[], theme: Theme): string {
  const { text, faint, line, ours, others } = colours[theme]
  const left = 20 + character * Math.max(...bars.map(({ name }) => name.length))
  const width = left + plot + right
  const logarithms = bars.map(({ ratio }) => Math.log10(ratio))
  const first = Math.floor(Math.min(...logarithms, 0))
  const last = Math.ceil(Math.max(...logarithms, 0.01))
  const at = (ratio: number): number => {
    return Math.round(left + ((Math.log10(ratio) - first) / (last - first)) * plot)
  }
  const height = top + bars.length * step + 14
  const grid = Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index)).map((ratio) => {
    const x = at(ratio)
    const label = Number(ratio.toPrecision(1))
    return [
      `<line x1="${x}" y1="${top - 4}" x2="${x}" y2="${height - 12}" stroke="${line}"${ratio === 1 ? ' stroke-width="2"' : ''}/>`,
      `<text x="${x}" y="${top - 10}" text-anchor="middle" fill="${faint}" font-size="11">${label}×</text>`,
    ].join('')
  })
  const drawn = bars.map(({ name, ratio, isOurs }, index) => {
    const y = top + index * step
    const end = at(ratio)
    const colour = isOurs ? ours : others
    return [
      `<text x="${left - 10}" y="${y + 14}" text-anchor="end" fill="${text}"${isOurs ? ' font-weight="600"' : ''}>${escaped(name)}</text>`,
      `<rect x="${left}" y="${y + 2}" width="${Math.max(1, end - left)}" height="${step - 8}" rx="2" fill="${colour}"/>`,
      `<text x="${end + 6}" y="${y + 14}" fill="${faint}" font-size="12">${ratio.toPrecision(2)}</text>`,
    ].join('')
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="13" role="img" aria-label="${escaped(title)}">`,
    `<text x="10" y="16" fill="${text}" font-weight="600">${escaped(title)}</text>`,
    ...grid,
    ...drawn,
    '</svg>\n',
  ].join('\n')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
