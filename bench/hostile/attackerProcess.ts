import { setPriority } from 'node:os'
import { z } from 'zod'
import { allAttacks } from './allAttacks.ts'
import { toolFlood } from './toolFlood.ts'

/* Attacks in a separate process: `node attackerProcess.ts TARGET`. The end of stdin ends it, and it reports. */
const target = z
  .object({
    port: z.int(),
    wallet: z.string(),
    addresses: z.array(z.string()),
    nice: z.int(),
    /** One attack alone; by default all of them. */
    only: z.string().optional(),
    capacityPerSecond: z.number(),
  })
  .parse(JSON.parse(process.argv[2] ?? ''))
setPriority(target.nice)

const attacks =
  target.only === undefined ? allAttacks : [...allAttacks, toolFlood].filter(({ name }) => name === target.only)
const running = attacks.map(({ name, start }) => ({ name, read: start(target) }))
process.stdin.resume().once('end', () => {
  process.stdout.write(`${JSON.stringify(Object.fromEntries(running.map(({ name, read }) => [name, read()])))}\n`, () =>
    process.exit(),
  )
})
