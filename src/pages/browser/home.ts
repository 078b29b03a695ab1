import { countText, tokensText } from './amounts.ts'
import { followBurnStats, spansOf } from './burnStats.ts'
import { one } from './element.ts'

await followBurnStats((stats) => {
  const { total, decimals } = stats
  one('#burned').textContent = tokensText(total.baseUnits, decimals)
  one('#burned-payments').textContent = `tokens in ${countText(total.payments)} payments`
  for (const [place, { baseUnits }] of spansOf(stats)) one(place).textContent = tokensText(baseUnits, decimals)
}, one('#burned-payments'))
