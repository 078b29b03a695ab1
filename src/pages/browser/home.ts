import { countText, tokensText } from './amounts.ts'
import { followBurnStats } from './burnStats.ts'
import { one } from './element.ts'

await followBurnStats(({ total, decimals }) => {
  one('#burned').textContent = tokensText(total.baseUnits, decimals)
  one('#burned-payments').textContent = `tokens in ${countText(total.payments)} payments`
}, one('#burned-payments'))
