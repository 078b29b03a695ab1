import type { Replay } from './replay.ts'
import { unknownMark } from './streams.ts'

interface UnknownBeginning {
  readonly firstEvent: string
  readonly position: number
  readonly streams: number
  readonly events: number
}

/** Adds a finding for each unknown kind. `declared` maps the database's unknown kinds to their first events. */
export function reportUnknownKinds(replay: Replay, declared: ReadonlyMap<string, readonly string[]>): void {
  const rows = replay.state
    .select(`select kind, min(firstPosition) as position, count(*) as streams, sum(version) as events
    from streams where kind like '${unknownMark}%' group by kind order by position`)
  const beginnings = Array.from(rows, ({ kind, position, streams, events }): UnknownBeginning => {
    const firstEvent = String(kind).slice(unknownMark.length)
    return { firstEvent, position: Number(position), streams: Number(streams), events: Number(events) }
  })
  for (const [kind, firstEvents] of declared)
    report(
      replay,
      `kind ${kind}`,
      beginnings.filter(({ firstEvent }) => firstEvents.includes(firstEvent)),
    )
  const isDeclared = ({ firstEvent }: UnknownBeginning): boolean => [...declared.values()].flat().includes(firstEvent)
  for (const beginning of beginnings.filter((one) => !isDeclared(one)))
    report(replay, `streams that begin with ${beginning.firstEvent}`, [beginning])
}

function report({ findings }: Replay, subject: string, beginnings: readonly UnknownBeginning[]): void {
  const streams = beginnings.reduce((sum, beginning) => sum + beginning.streams, 0)
  const events = beginnings.reduce((sum, beginning) => sum + beginning.events, 0)
  const extent =
    streams === 0
      ? 'it has no stream'
      : `${streams} ${streams === 1 ? 'stream' : 'streams'} with ${events} events ${streams === 1 ? 'is' : 'are'} not judged`
  const position = beginnings[0]?.position
  findings.add('kind_unknown', { position, subject, message: `this auditor does not know the kind: ${extent}` })
}
