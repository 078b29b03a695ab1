import { join } from 'node:path'
import { Command } from 'commander'
import { loadGoods } from '../compose.ts'
import { readConfig } from '../config.ts'
import { builtinNames } from '../product/builtinName.ts'
import { assertPresent } from '@tollbook/core/assert'
import { createLog } from '../machine/log.ts'
import { openDatabase } from '../store/database.ts'
import { compareFigures, readFigures, readSettledFigures } from './demo/compareFigures.ts'
import type { DemoDeps } from './demo/demoDeps.ts'
import { showPaidRequest } from './demo/paidRequest.ts'
import { showProducts } from './demo/products.ts'
import { showTab } from './demo/tab.ts'
import { openLocalService } from './openLocalService.ts'
import { sampleUpstreamsOption } from './serve.ts'
import { closeWhenStopped } from './closeWhenStopped.ts'

export function demoCommand(): Command {
  return new Command('demo')
    .description('start the service in local mode, buy and check every product, and compare the ledger with the chain')
    .option('--once', 'stop after the last purchase', false)
    .addOption(sampleUpstreamsOption())
    .addHelpText(
      'after',
      '\nNeeds no configuration and no internet: samples replace providers that do not answer.\nUses the service of TOLLBOOK_HOME when one is running there.',
    )
    .action(runDemo)
}

interface DemoFlags {
  readonly once: boolean
  readonly sampleUpstreams?: string
}

const say = (text: string) => void process.stdout.write(`${text}\n`)

async function runDemo({ once, ...flags }: DemoFlags): Promise<void> {
  const config = readConfig(undefined, { ...flags, start: 'local' })
  // Log errors only: the demo's samples cause warnings about providers, which would interrupt its output.
  const log = createLog({ level: 'error', name: 'tollbook demo' })
  await using opened = new AsyncDisposableStack()
  const service = await openLocalService(config, { log, onProgress: (step) => say(`Starting ${step} …`) })
  opened.defer(() => service.close())
  say(
    `0. The service ${service.started ? 'is up' : 'was running'} at ${service.local.baseUrl}, the chain at ${service.local.rpcUrl}`,
  )
  const samples = service.local.sampleUpstreams?.mode
  if (samples === 'always') say('   Prices, weather, news and chat are sample data: no provider is asked.')
  if (samples === 'auto') say('   Products none of whose providers answers are sample data; their source says so.')

  const databaseUrl = assertPresent(service.local.databaseUrl, 'local mode publishes the address of its database')
  const database = openDatabase({ databaseUrl, applicationName: 'tollbook demo', connectionsMax: 1, log })
  opened.defer(() => database.destroy())
  const products = (await loadGoods(builtinNames.map((name) => ({ name, isOff: false }))))?.products ?? []
  await showDemo({ local: service.local, database, products, say })
  if (once) return

  say(
    `\nThe service runs until Ctrl-C. Try it yourself:\n${hints(service.local.baseUrl, service.local.demoWallet?.address ?? '')}`,
  )
  say(`\nBurned tokens:   ${service.local.baseUrl}/burn`)
  say(
    `Finance reports: ${service.local.baseUrl}/finance, with financeToken of ${join(config.local.home, 'local.json')}`,
  )
  await closeWhenStopped({ log, close: () => opened.disposeAsync() })
}

async function showDemo(deps: DemoDeps): Promise<void> {
  const before = await readSettledFigures(deps, () => readFigures(deps))
  const spent = [await showPaidRequest(deps), ...(await showProducts(deps))]
  const tab = await showTab(deps)
  compareFigures(deps, { before, after: await readFigures(deps), spent, tab })
}

function hints(baseUrl: string, wallet: string): string {
  const order = `-H 'content-type: application/json' -d '{"data":"hello"}'`
  return [
    `  curl -i ${baseUrl}/api/tools/qrcode -H 'x-wallet-address: ${wallet}' ${order}`,
    `  npx tollbook pay POST /api/tools/qrcode --json '{"data":"hello"}'`,
    '  npx tollbook pay tab open',
  ].join('\n')
}
