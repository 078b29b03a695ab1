import { Presets, SingleBar } from 'cli-progress'

export interface ProgressBar {
  update(position: number, total: number): void
  stop(): void
}

/** At a terminal only, and on stderr, because stdout is reserved for the result. */
export function openProgressBar(unit: string, isWanted: boolean): ProgressBar {
  if (!isWanted) return { update: () => undefined, stop: () => undefined }
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
    update(position, total) {
      if (!isStarted) bar.start(total, position)
      else bar.update(position)
      isStarted = true
    },
    stop: () => bar.stop(),
  }
}
