import { Presets, SingleBar } from 'cli-progress'

/** Draws the bar on stderr, because stdout is reserved for the result. Draws nothing unless `isWanted`. */
export function openProgressBar(unit: string, isWanted: boolean) {
  const bar = new SingleBar(
    {
      stream: process.stderr,
      format: `{bar} {percentage}% | {value}/{total} ${unit} | {duration_formatted}, {eta_formatted} left`,
      hideCursor: true,
      clearOnComplete: true,
    },
    Presets.shades_classic,
  )
  let isStarted = false
  return {
    update(position: number, total: number) {
      if (!isWanted) return
      if (!isStarted) bar.start(total, position)
      else bar.update(position)
      isStarted = true
    },
    stop: () => bar.stop(),
  }
}
