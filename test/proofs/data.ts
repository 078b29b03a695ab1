import '@tollbook/core/quietBindings'
import { partOf, proofCommand, wholeNumber } from './proofCommand.ts'
import { appleStages, bitcoinStage, euroStage, loneStages } from './data/priceStages.ts'
import { historyStages } from './data/historyStages.ts'
import { openNewsStage } from './data/newsStage.ts'
import { openServers, type Result, settings, tryVariant, variantsOf } from './data/runVariants.ts'
import type { Stage } from './data/stage.ts'
import { weatherStages } from './data/weatherStages.ts'
import { concludeProof, say } from './verdict.ts'

/*
 * Variants of every provider's fixture, made by rule, are served over real HTTP to the handlers of the products. Their
 * answers are compared with the truth of the fixtures.
 */

interface Options {
  readonly every: number
  readonly part: (at: number) => boolean
  readonly stage: string
  readonly show: number
}

const command = proofCommand(
  'data',
  'No fault of one provider sells a wrong answer, or calls an existing item unknown.',
)
const {
  every,
  part,
  stage: wanted,
  show,
} = command
  .option('--every <n>', 'tries only every n-th variant', wholeNumber, 4)
  .option('--part <i/n>', 'tries only the i-th of n parts of these variants', partOf, () => true)
  .option('--stage <name>', 'tries only the stages with this in their name', String, '')
  .option('--show <n>', 'failures to print', wholeNumber, 20)
  .parse()
  .opts<Options>()

const results: Result[] = []
const newsStage = await openNewsStage()
for (const stage of [bitcoinStage, ...appleStages, ...loneStages, euroStage, ...historyStages, ...weatherStages])
  await tryStage(stage, 4)
// The articles of all variants are in one database.
await tryStage(newsStage.stage, 1)
await newsStage.close()
const bad = results.filter(({ verdict }) => verdict === 'wrong' || verdict === 'false NO_DATA')
const marked = results.filter(({ verdict }) => verdict === 'wrong, marked')
printTable()
for (const { variant, verdict, detail } of [...bad, ...marked].slice(0, show))
  say(
    `${verdict}: ${variant.stage.name}, ${variant.provider.name}, ${variant.setting}, ${variant.name}: ${detail.slice(0, 200)}`,
  )
concludeProof({
  holds: bad.length === 0 && marked.length === 0,
  lines: [
    `${results.length} variants; wrong answers sold: ${bad.filter(({ verdict }) => verdict === 'wrong').length}`,
    `false NO_DATA: ${bad.filter(({ verdict }) => verdict === 'false NO_DATA').length}`,
    `wrong answers sold with the mark of a single source: ${marked.length}`,
  ],
})

/** Hanging providers take seconds each, so several variants are tried at once, each with its own servers. */
async function tryStage(stage: Stage, lanes: number): Promise<void> {
  if (!stage.name.includes(wanted)) return
  const variants = variantsOf(stage).filter((_variant, at) => at % every === 0 && part(at / every))
  const waiting = variants.values()
  const tryWaiting = async () => {
    const servers = await openServers(stage)
    for (const variant of waiting) results.push(await tryVariant(variant, servers))
    servers.close()
  }
  await Promise.all(Array.from({ length: lanes }, tryWaiting))
  const wrong = results.filter(({ variant, verdict }) => variant.stage === stage && /wrong|false/.test(verdict)).length
  say(`${stage.name}: ${variants.length} variants, ${wrong} wrong`)
}

function printTable(): void {
  const verdicts = ['right', 'refused', 'unknown', 'false NO_DATA', 'wrong', 'wrong, marked'] as const
  const providers = [...new Set(results.map(({ variant }) => variant.provider.name))]
  say(['provider'.padEnd(22), 'setting'.padEnd(14), ...verdicts.map((verdict) => verdict.padStart(13))].join(' '))
  for (const provider of providers)
    for (const setting of settings) {
      const own = results.filter(({ variant }) => variant.provider.name === provider && variant.setting === setting)
      const counts = verdicts.map((verdict) => own.filter((result) => result.verdict === verdict).length)
      if (own.length > 0)
        say([provider.padEnd(22), setting.padEnd(14), ...counts.map((count) => String(count).padStart(13))].join(' '))
    }
}
