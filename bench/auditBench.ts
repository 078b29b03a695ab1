import { z } from 'zod'
import { assert } from '@tollbook/core/assert'
import { startLedgerServer } from '../test/proofs/ledgerServer.ts'
import { openAgedLedger } from './agedLedger.ts'
import { copyMs } from './copyMs.ts'
import { type Ran, runCommand } from './runCommand.ts'
import { type Bench, median } from './yardstick.ts'

const shortShare = 10

export const auditBench: Bench = {
  name: 'audit',
  about: 'an audit of a whole live ledger against COPY … TO STDOUT of the rows that it reads, and its memory',
  async run(options) {
    await using server = await startLedgerServer()
    const { payments: events, rounds, progress } = options
    const long = await openAgedLedger(server, events, options)
    const short = await openAgedLedger(server, Math.ceil(events / shortShare), options)
    const found: Round[] = []
    for (let round = 0; round <= rounds; round++) {
      const result = { ...(await measure(long)), shortPeakMb: (await auditIn(short)).peakMb }
      // The first round warms the server's memory up.
      if (round > 0) found.push(result)
      progress(`audit: round ${round} of ${rounds}, ${seconds(result.audit)} audited, ${seconds(result.text)} copied`)
    }
    const middle = (pick: (round: Round) => number): number => median(found.map(pick))
    const binary = middle((round) => round.audit / round.binary).toFixed(2)
    const eventsOnly = middle((round) => round.audit / round.eventsText).toFixed(2)
    const replayed = middle((round) => round.replayed / round.text).toFixed(2)
    const rate = Math.round(events / (middle((round) => round.audit) / 1000))
    const [longMb, shortMb] = [middle((round) => round.peakMb), middle((round) => round.shortPeakMb)]
    return [
      {
        what: `audit, every payer's signature included ÷ COPY … TO STDOUT of the same rows, ${events} events`,
        value: middle((round) => round.audit / round.text),
        goal: { atMost: 3.3 },
        detail: `${seconds(middle((round) => round.audit))} for the whole process, ${rate} events/s, ${seconds(middle((round) => round.text))} for COPY; ÷ COPY of the events alone ${eventsOnly}, ÷ binary COPY ${binary}; without the signatures of the stored transactions ${replayed}`,
      },
      {
        what: `peak memory of the audit at ${events} events ÷ at ${Math.ceil(events / shortShare)}`,
        value: middle((round) => round.peakMb / round.shortPeakMb),
        goal: { atMost: 1.5 },
        detail: `${longMb.toFixed(0)} MB and ${shortMb.toFixed(0)} MB at the most`,
      },
    ]
  },
}

interface Round {
  readonly text: number
  readonly eventsText: number
  readonly binary: number
  readonly audit: number
  readonly replayed: number
  readonly peakMb: number
  readonly shortPeakMb: number
}

async function measure(url: string): Promise<Omit<Round, 'shortPeakMb'>> {
  const eventsText = await copyMs(url, { table: 'events', format: 'text' })
  // The events have their postings; the other tables are small.
  const text = eventsText + (await copyMs(url, { table: 'streams', format: 'text' }))
  const binary =
    (await copyMs(url, { table: 'events', format: 'binary' })) +
    (await copyMs(url, { table: 'streams', format: 'binary' }))
  const { ms: audit, peakMb } = await auditIn(url)
  const { ms: replayed } = await auditIn(url, '--no-transactions')
  return { eventsText, text, binary, audit, replayed, peakMb }
}

const printed = z.object({ events: z.int(), findings: z.array(z.unknown()) })

async function auditIn(url: string, ...options: readonly string[]): Promise<Ran> {
  const ran = await runCommand(['audit', '--database', url, '--json', ...options])
  assert(printed.parse(JSON.parse(ran.output)).findings.length === 0, 'the audited ledger holds')
  return ran
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`
}
