import { open } from 'node:fs/promises'
import { type ExportFormat, exportFormats } from '../src/reports/export/exportLedger.ts'
import { startLedgerServer } from '../test/proofs/ledgerServer.ts'
import { openAgedLedger } from './agedLedger.ts'
import { copyMs } from './copyMs.ts'
import { type Ran, runCommand } from './runCommand.ts'
import { type Bench, median, type Yardstick } from './yardstick.ts'

const shortShare = 10

export const exportBench: Bench = {
  name: 'export',
  about: 'memory of `tollbook export` for a long ledger against a short one, and its time against COPY … TO STDOUT',
  async run(options) {
    await using server = await startLedgerServer()
    const { payments: events, rounds, progress } = options
    const shortEvents = Math.ceil(events / shortShare)
    const long = await openAgedLedger(server, events, options)
    const short = await openAgedLedger(server, shortEvents, options)
    // Not counted: it warms the server's memory up.
    await exported(long, 'jsonl')
    const yardsticks: Yardstick[] = []
    for (const format of exportFormats) {
      const found: Round[] = []
      for (let round = 1; round <= rounds; round++) {
        found.push(await measure({ long, short, format }))
        progress(`export: ${format}, round ${round} of ${rounds}`)
      }
      yardsticks.push(...judge({ format, found, events, shortEvents }))
    }
    return yardsticks
  },
}

interface Round {
  readonly long: Ran
  readonly short: Ran
  readonly copyMs: number
}

interface Ledgers {
  readonly long: string
  readonly short: string
  readonly format: ExportFormat
}

async function measure({ long, short, format }: Ledgers): Promise<Round> {
  const copied = await copyMs(long, { table: 'events', format: 'text' })
  return { copyMs: copied, long: await exported(long, format), short: await exported(short, format) }
}

/** To nowhere. */
async function exported(url: string, format: ExportFormat): Promise<Ran> {
  const nowhere = await open('/dev/null', 'w')
  try {
    return await runCommand(['export', format, '--database', url], nowhere.fd)
  } finally {
    await nowhere.close()
  }
}

interface Judged {
  readonly format: ExportFormat
  readonly found: readonly Round[]
  readonly events: number
  readonly shortEvents: number
}

function judge({ format, found, events, shortEvents }: Judged): readonly Yardstick[] {
  const middle = (pick: (round: Round) => number): number => median(found.map(pick))
  const [longMb, shortMb] = [middle(({ long }) => long.peakMb), middle(({ short }) => short.peakMb)]
  const [seconds, copySeconds] = [middle(({ long }) => long.ms) / 1000, middle((round) => round.copyMs) / 1000]
  return [
    {
      what: `peak memory of export ${format} at ${events} events ÷ at ${shortEvents}`,
      value: middle(({ long, short }) => long.peakMb / short.peakMb),
      goal: { atMost: 1.3 },
      detail: `${longMb.toFixed(0)} MB and ${shortMb.toFixed(0)} MB`,
    },
    {
      what: `peak memory of export ${format} at ${events} events, MB`,
      value: longMb,
      goal: { atMost: 250 },
      detail: `${seconds.toFixed(1)} s for the whole process; ÷ ${copySeconds.toFixed(1)} s of COPY ledger.events TO STDOUT ${(seconds / copySeconds).toFixed(1)}`,
    },
  ]
}
