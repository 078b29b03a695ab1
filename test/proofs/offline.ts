import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { proofCommand } from './proofCommand.ts'
import { couldNotRun } from './verdict.ts'

/*
 * `npm start` of a newcomer without internet: in a network namespace with loopback and no route, without configuration.
 * All products answer 402 without a payment and 200 with one, and answers made of samples say so.
 */

proofCommand(
  'offline',
  'Starts the service without a network and buys all products. Half a minute; needs root.',
).parse()

const inside = fileURLToPath(new URL('offline/buyProcess.ts', import.meta.url))
const { status } = spawnSync(
  'unshare',
  ['--net', 'sh', '-c', 'ip link set lo up && exec "$0" "$1"', process.execPath, inside],
  {
    stdio: 'inherit',
  },
)
if (status === 0 || status === 1) process.exitCode = status
else couldNotRun('a network namespace needs root, unshare and ip (apt-get install util-linux iproute2)')
