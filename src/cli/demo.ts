import { Command } from 'commander'
import { readConfig } from '../config.ts'
import { assertPresent } from '@tollbook/core/assert'
import { createLog } from '../primitives/log.ts'
import { openDatabase } from '../store/database.ts'
import { tellDemo } from './demo/story.ts'
import { openLocalService } from './openLocalService.ts'
import { sampleUpstreamsHelp } from './serve.ts'
import { untilStopped } from './untilStopped.ts'

export function demoCommand(): Command {
  return new Command('demo')
    .description(
      'start the service in local mode and buy every product: real payments, checked answers, the books compared',
    )
    .option('--once', 'end when the story has been told', false)
    .option('--sample-upstreams', sampleUpstreamsHelp, false)
    .addHelpText(
      'after',
      '\nNeeds no configuration. Without internet, what comes from providers is left out; --sample-upstreams brings samples.\nUses the service of TOLLBOOK_HOME when one is running there.',
    )
    .action(runDemo)
}

interface DemoFlags {
  readonly once: boolean
  readonly sampleUpstreams: boolean
}

const say = (text: string) => void process.stdout.write(`${text}\n`)

async function runDemo({ once, sampleUpstreams }: DemoFlags): Promise<void> {
  const config = readConfig(undefined, { sampleUpstreams })
  // Warnings only: the story is what the reader came for.
  const log = createLog({ level: 'warn', name: 'tollbook demo' })
  await using opened = new AsyncDisposableStack()
  const shop = await openLocalService(config, { log, onProgress: (step) => say(`Starting ${step} …`) })
  opened.defer(() => shop.close())
  say(
    `0. The service ${shop.started ? 'is up' : 'was running'} at ${shop.local.baseUrl}, the chain at ${shop.local.rpcUrl ?? ''}`,
  )
  if (shop.local.sampleUpstreams) say('   Prices, weather, news and chat are sample data: no provider is asked.')

  const databaseUrl = assertPresent(shop.local.databaseUrl, 'local mode tells where its database is')
  const database = openDatabase({ databaseUrl, applicationName: 'tollbook demo', connectionsMax: 1, log })
  opened.defer(() => database.destroy())
  await tellDemo({ local: shop.local, database, say })
  if (once) return

  say(
    `\nIt stays up until Ctrl-C. Try it yourself:\n${hints(shop.local.baseUrl, shop.local.demoWallet?.address ?? '')}`,
  )
  say(`\nWhat was burned: ${shop.local.baseUrl}/burn`)
  const { financeToken } = shop.local
  if (financeToken) say(`The books:       ${shop.local.baseUrl}/finance#token=${financeToken}`)
  await untilStopped()
}

function hints(baseUrl: string, wallet: string): string {
  const order = `-H 'content-type: application/json' -d '{"data":"hello"}'`
  return [
    `  curl -i ${baseUrl}/api/tools/qrcode -H 'x-wallet-address: ${wallet}' ${order}`,
    `  npx tollbook pay POST /api/tools/qrcode --json '{"data":"hello"}'`,
  ].join('\n')
}
