import { killUnderLoad } from '../store/killUnderLoad.ts'
import { startLedgerServer } from './ledgerServer.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { concludeProof, say } from './verdict.ts'

/*
 * kill -9 of the postmaster under load: everything acknowledged is there, once, without a gap and in balance (I5, I8,
 * I25), and no first caller is refused as second. A second run with synchronous_commit=off, where commits are lost,
 * shows
 * that the checker detects the loss.
 */

const command = proofCommand('postgres', 'kill -9 of Postgres under load loses nothing that was acknowledged.')
  .option('--kills <n>', 'kills of the postmaster', wholeNumber, 10)
  .option('--callers <n>', 'callers that append at once', wholeNumber, 32)
const { kills, callers } = command.parse().opts<{ kills: number; callers: number }>()

async function run(settings: Readonly<Record<string, string>>) {
  await using server = await startLedgerServer(settings)
  const database = await server.createDatabase()
  const pid = server.postgres.pid
  // Awaited here: the server is stopped when this function returns.
  return await killUnderLoad({ database, pid, kills, callers, msBetweenKills: 1_500, progress: say })
}

say(`${kills} kills under ${callers} callers, durable`)
const durable = await run({})
say(JSON.stringify(durable))
say(`the same with synchronous_commit=off, where the checker must find losses`)
const careless = await run({ synchronous_commit: 'off' })
say(JSON.stringify(careless))

const holds = durable.lost + durable.misled + durable.gaps + durable.unbalanced === 0 && durable.acknowledged > 1_000
const figures = `${durable.acknowledged} payments acknowledged over ${kills} kills, ${durable.lost} lost, ${durable.misled} misled, ${durable.gaps} gaps, ${durable.unbalanced} unbalanced, ${durable.unknown} answered as unknown`
const power =
  careless.lost > 0
    ? `the checker has power: without durable commits it found ${careless.lost} of ${careless.acknowledged} lost`
    : 'the power of the checker could not be shown: even without durable commits nothing was lost this time'
concludeProof({ holds, lines: [figures, power] })
