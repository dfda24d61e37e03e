/** Names what a value is: `array`, `null`, or its `typeof`. */
export function valueKind(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}
