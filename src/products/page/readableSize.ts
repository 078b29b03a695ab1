const step = 1024
const units = ['KB', 'MB', 'GB'] as const

/** A size for people: `"940 B"`, `"12.3 KB"`, with 1,024 bytes to a KB as file managers count. */
export function readableSize(bytes: number): string {
  if (bytes < step) return `${bytes} B`
  let size = bytes / step
  let unit = 0
  // 1023.95 would otherwise be written as "1024.0" of the smaller unit.
  while (size >= step - 0.05 && unit < units.length - 1) {
    size /= step
    unit++
  }
  return `${size.toFixed(1)} ${units[unit]}`
}
