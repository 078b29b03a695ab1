import { expect, test } from 'vitest'
import { appleStages, bitcoinStage } from './priceStages.ts'
import { sampleOf } from '../../support/rounds.ts'
import { openServers, tryVariant, variantsOf } from './runVariants.ts'

// CI tries each 307th of them, `npm run proof data` all, and those of weather and news.
const every = 307

test.each([bitcoinStage, ...appleStages])('a sample of the faults of $name sells nothing wrong', async (stage) => {
  const servers = await openServers(stage)
  const variants = sampleOf(variantsOf(stage).filter((_variant, at) => at % every === 0))
  expect(variants.length).toBeGreaterThan(1)
  for (const variant of variants) {
    const { verdict, detail } = await tryVariant(variant, servers)
    expect(verdict, `${variant.provider.name}, ${variant.name}: ${detail}`).not.toMatch(/^(wrong|false NO_DATA)$/)
  }
  servers.close()
})
