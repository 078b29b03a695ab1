const step = 1024
const units = ['KB', 'MB', 'GB'] as const

/** Returns the size for people, such as `"940 B"` or `"12.3 KB"`. A KB has 1,024 bytes, as in file managers. */
export function readableSize(bytes: number): string {
  if (bytes < step) return `${bytes} B`
  let size = bytes / step
  let unit = 0
  // Switch to the next unit from 1023.95 on: with one decimal, the value would be shown as "1024.0" of the smaller
  // unit.
  while (size >= step - 0.05 && unit < units.length - 1) {
    size /= step
    unit++
  }
  return `${size.toFixed(1)} ${units[unit]}`
}
