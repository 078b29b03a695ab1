import '@tollbook/core/quietBindings'
import { parseArgs, type ParseArgsConfig } from 'node:util'
import { assert } from '@tollbook/core/assert'
import { describeError } from '@tollbook/core/fault'
import { attacks } from './attacks.ts'
import { auditBench } from './auditBench.ts'
import { burnStatsBench } from './burnStatsBench.ts'
import { callersBench } from './callersBench.ts'
import { claims } from './claims.ts'
import { exportBench } from './exportBench.ts'
import { financeBench } from './financeBench.ts'
import { flood } from './flood.ts'
import { hostile } from './hostile.ts'
import { tools } from './tools.ts'
import { memory } from './memory.ts'
import { peer } from './peer.ts'
import { quotes } from './quotes.ts'
import { gateway } from './gateway.ts'
import { hosts } from './hosts.ts'
import { reads } from './reads.ts'
import { render } from './render.ts'
import { rollUpBench } from './rollUpBench.ts'
import { rpcCalls } from './rpcCalls.ts'
import { stranger } from './stranger.ts'
import { tabs } from './tabs.ts'
import { type Bench, describeYardstick, passes, type Yardstick } from './yardstick.ts'

const benches: readonly Bench[] = [
  claims,
  callersBench,
  quotes,
  reads,
  hosts,
  rpcCalls,
  stranger,
  flood,
  peer,
  tabs,
  gateway,
  rollUpBench,
  burnStatsBench,
  financeBench,
  auditBench,
  exportBench,
  hostile,
  tools,
  attacks,
  memory,
  render,
]

const help = `npm run bench -- [NAME ...] [options]

The yardsticks of the design, as ratios within one run. Without names, all of them.

${benches.map(({ name, about }) => `  ${name.padEnd(12)}${about}`).join('\n')}

  --rounds N     rounds of which the median counts (default 5)
  --seconds N    seconds of each measurement (default 3)
  --requests N   paid requests of the memory bench (default 100000; 20 to 40 ms each: an hour)
  --payments N   payments of the rollup, burn-stats and finance benches, events of the audit and export benches (default 1000000; 0.2 to 0.7 ms each)
  --nice N       scheduling priority of the attackers of the hostile bench, 1 to 19 (default 5): they share the server's processors
  --now-only     the hostile bench does not measure the release before decision 0027
  --profile DIR  write profiles of the server's processor in the hostile bench (--cpu-prof)
  --json         one JSON document on stdout; progress goes to stderr
`

const accepted = {
  allowPositionals: true,
  options: {
    help: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    requests: { type: 'string', default: '100000' },
    payments: { type: 'string', default: '1000000' },
    nice: { type: 'string', default: '5' },
    'now-only': { type: 'boolean', default: false },
    profile: { type: 'string' },
  },
} as const satisfies ParseArgsConfig

const { values, positionals } = readArguments()

if (values.help) process.stdout.write(help)
else await runBenches()

function readArguments() {
  try {
    return parseArgs(accepted)
  } catch (error) {
    process.stderr.write(`${describeError(error)}\nnpm run bench -- --help lists the options.\n`)
    return process.exit(2)
  }
}

async function runBenches(): Promise<void> {
  const unknown = positionals.filter((name) => !benches.some((bench) => bench.name === name))
  assert(
    unknown.length === 0,
    `the benches are ${benches.map(({ name }) => name).join(', ')}, not ${unknown.join(', ')}`,
  )
  const chosen = positionals.length === 0 ? benches : benches.filter(({ name }) => positionals.includes(name))
  const options = {
    rounds: whole('rounds', values.rounds),
    roundSeconds: whole('seconds', values.seconds),
    requests: whole('requests', values.requests),
    payments: whole('payments', values.payments),
    attackersNice: whole('nice', values.nice),
    comparesEarlier: !values['now-only'],
    profileDirectory: values.profile,
    progress: (line: string) => void process.stderr.write(`${line}\n`),
  }
  const found: Yardstick[] = []
  for (const bench of chosen) found.push(...(await bench.run(options)))
  process.stdout.write(
    values.json ? `${JSON.stringify(found.map(reported), null, 2)}\n` : `${found.map(describeYardstick).join('\n')}\n`,
  )
  // A figure that falls short is a finding and not a failure of the bench: the machine may be busy.
}

function reported(yardstick: Yardstick): object {
  return { ...yardstick, pass: passes(yardstick) }
}

function whole(name: string, text: string): number {
  assert(/^[1-9]\d{0,7}$/.test(text), `--${name} is a whole number from 1`)
  return Number(text)
}
