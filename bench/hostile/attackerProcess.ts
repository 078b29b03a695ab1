import { setPriority } from 'node:os'
import { z } from 'zod'
import { idleConnections } from './idleConnections.ts'
import { jsonBombs } from './jsonBombs.ts'
import { junkProofs } from './junkProofs.ts'
import { quoteFlood } from './quoteFlood.ts'
import { slowBodies } from './slowBodies.ts'
import { unreadPipelines } from './unreadPipelines.ts'

/*
 * All attacks at once, in a separate process: `node attackerProcess.ts TARGET`. The end of stdin ends it, and it reports.
 */
const target = z
  .object({
    port: z.int(),
    wallet: z.string(),
    addresses: z.array(z.string()),
    nice: z.int(),
    only: z.string().optional(),
    capacityPerSecond: z.number(),
  })
  .parse(JSON.parse(process.argv[2] ?? ''))
setPriority(target.nice)

const attacks = [slowBodies, idleConnections, unreadPipelines, jsonBombs, junkProofs, quoteFlood]
const running = attacks.filter(({ name }) => target.only === undefined || name === target.only).map(({ name, start }) => ({ name, read: start(target) }))
process.stdin.resume().once('end', () => {
  process.stdout.write(`${JSON.stringify(Object.fromEntries(running.map(({ name, read }) => [name, read()])))}\n`, () =>
    process.exit(),
  )
})
