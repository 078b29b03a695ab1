import { countText, tokensText } from './amounts.js'

const one = (selector) => document.querySelector(selector)
const refreshMs = 30_000

await show()
setInterval(() => void show(), refreshMs)

async function show() {
  try {
    const response = await fetch('api/token/burn-stats')
    const body = await response.json()
    if (!response.ok) throw new Error(body.error)
    fill(body.data)
  } catch (error) {
    one('#burned-payments').textContent = `The figures are not available now: ${error.message}.`
  }
}

function fill({ total, last24Hours, last7Days, last30Days, decimals }) {
  one('#burned').textContent = tokensText(total.baseUnits, decimals)
  one('#burned-payments').textContent = `tokens in ${countText(total.payments)} payments`
  const spans = { '#day': last24Hours, '#week': last7Days, '#month': last30Days }
  for (const [id, { baseUnits }] of Object.entries(spans)) one(id).textContent = tokensText(baseUnits, decimals)
}
