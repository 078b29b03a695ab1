export interface ProgressLine {
  update(position: number, last: number): void
  end(): void
}

/** Opens a line on a terminal that each update overwrites. Writes nothing if stderr is not a terminal. */
export function openProgressLine(stream: { write(text: string): unknown; readonly isTTY?: boolean }): ProgressLine {
  if (stream.isTTY !== true) return { update: () => undefined, end: () => undefined }
  let shown = ''
  return {
    update(position, last) {
      const percent = last === 0 ? 100 : Math.floor((100 * position) / last)
      const line = `${percent}% | ${position}/${last} events`
      if (line === shown) return
      shown = line
      stream.write(`\r\x1b[K${line}`)
    },
    end() {
      if (shown !== '') stream.write('\r\x1b[K')
      shown = ''
    },
  }
}
