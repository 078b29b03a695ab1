import type { Burned, BurnStats } from '../../reports/burnStats.ts'
import { countText, timeText, tokensText } from './amounts.ts'
import { followBurnStats } from './burnStats.ts'
import { drawDays } from './charts.ts'
import { fillTable, one, oneOf } from './element.ts'

const status = one('#status')
await followBurnStats((stats) => {
  const { decimals } = stats
  const tokens = ({ baseUnits }: Pick<Burned, 'baseUnits'>) => tokensText(baseUnits, decimals)
  one('#total').textContent = tokens(stats.total)
  one('#payments').textContent = `in ${countText(stats.total.payments)} payments`
  one('#day').textContent = tokens(stats.last24Hours)
  one('#week').textContent = tokens(stats.last7Days)
  one('#month').textContent = tokens(stats.last30Days)
  one('#mint').textContent = stats.mint
  showRounds(stats, tokens)
  status.textContent = `As of ${timeText(stats.asOf)} UTC, position ${stats.ledger.position} of the ledger.`
  showTables(stats, tokens)
}, status)

type TokensOf = (amount: Pick<Burned, 'baseUnits'>) => string

function showRounds({ owed, confirmed, treasury }: BurnStats, tokens: TokensOf): void {
  const since = owed.oldestAt === null ? 'a moment ago' : `${timeText(owed.oldestAt)} UTC`
  one('#owed').textContent =
    owed.baseUnits === '0'
      ? ''
      : `${tokens(owed)} more were received for burning and are not burned yet, the oldest of them since ${since}.`
  one('#promised').textContent = promisesText(treasury, tokens)
  const { lastRound, insidePayments, inRounds } = confirmed
  one('#rounds').textContent =
    lastRound === null
      ? ''
      : `${tokens(insidePayments)} inside payments, ${tokens(inRounds)} later by the service; the last time at ${timeText(lastRound.at)} UTC in transaction ${lastRound.signature}.`
}

/**
 * Describes the promised burns. Amounts of tokens and dollars are never added, and neither are the dollars of two
 * mints.
 */
function promisesText(treasury: BurnStats['treasury'], tokens: TokensOf): string {
  if (treasury === undefined) return ''
  const { promised, delivered, burned, open, sales } = treasury
  const dollars = sales.map(({ mint, symbol, usd }) => `${usd} USD in ${symbol ?? mint}`)
  const of = dollars.length === 0 ? 'Sales in dollars' : `Sales of ${dollars.join(' and ')}`
  return `${of} promised ${tokens(promised)} tokens: the treasury delivered ${tokens(delivered)}, ${tokens(burned)} are burned and ${tokens(open)} are open.`
}

function showTables({ byDay, byEndpoint }: BurnStats, tokens: TokensOf): void {
  const figures = [
    { name: 'Burned', isNumber: true },
    { name: 'Payments', isNumber: true },
  ]
  const rowOf = (name: string, burned: Burned) => [name, tokens(burned), countText(burned.payments)]
  const days = byDay.toReversed()
  drawDays(one('#chart-burns'), {
    title: 'Tokens burned per day, the last 90 days',
    days: days.map(({ day }) => day),
    series: [{ label: 'Burned', values: days.map((burned) => burned.tokens) }],
    table: { columns: [{ name: 'Day (UTC)' }, ...figures], rows: byDay.map((line) => rowOf(line.day, line)) },
  })
  fillTable(oneOf(HTMLTableElement, '#endpoints table'), {
    columns: [{ name: 'Endpoint' }, ...figures],
    rows: byEndpoint.map((line) => rowOf(line.endpoint, line)),
  })
}
