import { countText, showFigure, tokensText } from './amounts.js'
import { drawDays, tableBehind } from './charts.js'

const one = (selector) => document.querySelector(selector)
const refreshMs = 30_000

await show()
setInterval(() => void show(), refreshMs)

async function show() {
  try {
    const response = await fetch('api/token/burn-stats', { cache: 'no-store' })
    const body = await response.json()
    if (!response.ok) throw new Error(body.error)
    fill(body.data)
  } catch (error) {
    one('#status').textContent = `The statistics are not available at the moment: ${error.message}.`
  }
}

function fill({
  confirmed,
  owed,
  total,
  last24Hours,
  last7Days,
  last30Days,
  byEndpoint,
  byDay,
  mint,
  decimals,
  ledger,
  asOf,
}) {
  const tokens = ({ baseUnits }) => tokensText(baseUnits, decimals)
  showFigure(one('#total'), tokens(total))
  one('#payments').textContent = `in ${countText(total.payments)} payments`
  const spans = { '#day': last24Hours, '#week': last7Days, '#month': last30Days }
  for (const [id, span] of Object.entries(spans)) showFigure(one(id), tokens(span))
  one('#mint').textContent = mint
  one('#owed').textContent =
    owed.baseUnits === '0'
      ? ''
      : `${tokens(owed)} more were received for burning and are not burned yet, the oldest of them since ${timeText(owed.oldestAt)}.`
  one('#rounds').textContent =
    confirmed.lastRound === null
      ? ''
      : `${tokens(confirmed.insidePayments)} inside payments, ${tokens(confirmed.inRounds)} later by the service; the last time at ${timeText(confirmed.lastRound.at)} in transaction ${confirmed.lastRound.signature}.`
  one('#status').textContent = `As of ${timeText(asOf)}, position ${ledger.position} of the ledger.`

  const days = byDay.toReversed()
  const figure = one('#chart-burns')
  drawDays(figure, {
    title: 'Tokens burned per day, the last 90 days',
    days: days.map(({ day }) => day),
    series: [{ label: 'Burned', values: days.map((span) => span.tokens) }],
  })
  tableBehind(
    figure,
    ['Day (UTC)', 'Burned', 'Payments'],
    byDay.map((span) => [span.day, tokens(span), countText(span.payments)]),
  )
  tableBehind(
    one('#endpoints'),
    ['Endpoint', 'Burned', 'Payments'],
    byEndpoint.map((span) => [span.endpoint, tokens(span), countText(span.payments)]),
  )
}

function timeText(iso) {
  return iso === null ? 'a moment ago' : `${iso.slice(0, 19).replace('T', ' ')} UTC`
}
