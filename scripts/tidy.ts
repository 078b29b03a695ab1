import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import ts from 'typescript'

/*
 * Rules that no linter has: what a file may be called and how long it is, and what enters the program
 * in one place only. Prints the figures that a reviewer asks for.
 */

interface Source {
  readonly path: string
  readonly text: string
  readonly lines: readonly string[]
}

interface Parsed {
  readonly path: string
  readonly tree: ts.SourceFile
  /** All nodes of the tree: each rule would walk a thousand files again. */
  readonly nodes: readonly ts.Node[]
}

const linesMax = 400
/** Files that a newcomer reads first: the flow of a paid request, and the start-up. */
const shortFiles: Readonly<Record<string, number>> = { 'src/paywall/paywall.ts': 100, 'src/compose.ts': 150 }
const linesMedianMax = 120
const functionLinesMax = 70
const castsPerThousandLinesMax = 3
const bannedNames = /^(utils?|helpers?|common|lib|misc|shared|types|index|services?)\.[jt]s$/i

/** One of the service, one of the client, the agent and the pages, and one of the audit, which shares no code. */
const fetchHomes =
  /^(src\/outbound\/upstreamRequest|packages\/client\/src\/defaultFetch|packages\/audit\/src\/auditCommand)\.ts$/
/** Features that only one place may use. */
const oneHome: readonly { readonly what: string; readonly pattern: RegExp; readonly homes: RegExp }[] = [
  {
    what: 'the clock',
    pattern: /\bDate\.now\b|new Date\(\)|\bperformance\.now\b|\bhrtime\b/,
    // A script of pageTimers.ts runs in the captured page.
    homes: /^(packages\/(core|audit)\/src\/clock|src\/rendering\/pageTimers)\.ts$/,
  },
  {
    what: 'randomness',
    pattern:
      /\bMath\.random\b|\brandom(Bytes|Fill|FillSync|Int|UUID|SecretKey|PrivateKey)\(|getRandomValues\(|\bgenerateKey(Pair\w*)?\(|\bKeypair\.generate\b/,
    // packages/core/src/id.ts takes it from `#platform`, which is one of two files. The test wallet of a page has a key
    // that no script can read, which only the browser can make.
    homes: /^(packages\/core\/src\/platform(Web|Node)|src\/pages\/browser\/wallets)\.ts$/,
  },
  {
    what: 'the environment',
    pattern: /process\.env\b|\benv\b[^}\n]*\}\s*=\s*process\b/,
    // programSamples.ts and sampleProgram.ts write programs for callers.
    homes:
      /^(src\/config|src\/document\/programSamples|src\/rails\/(mpp|x402)\/sampleProgram|packages\/(audit\/src|client\/src\/command)\/main)\.ts$/,
  },
  {
    what: 'fetch',
    pattern: /(?<!typeof )globalThis\.fetch\b/,
    homes: fetchHomes,
  },
]
/** Names of bigints end in one of these units, or are one. `liquidityUsd` is whole dollars, and a `number` counts. */
const unitLast = /(baseUnits|lamports|microUsd|picoUsd|attoUsd|^liquidityUsd|perMille|slot|epoch|^number)$/i
/** Files whose bigints are not money, or money of any unit: among them those whose functions divide it. */
const otherBigints =
  /^packages\/(localnet\/|core\/src\/money\.ts|ledger\/src\/wire\.ts|audit\/src\/(rounding|tokenAccountAddress|copyRow)\.ts)/
/** A name of an amount. `Number` of it rounds beyond 2^53 base units; `displayNumber` shows amounts. */
const moneyLast = /(baseUnits|lamports|microUsd|attoUsd)$/i
/** Files whose use of a float is what others define, or that never compute with it. */
const moneyAsNumber: readonly { readonly paths: RegExp; readonly reason: string }[] = [
  { paths: /^src\/transport\/(moneyMetrics|metrics)\.ts$/, reason: 'a Prometheus gauge is a float' },
  {
    paths: /^src\/cli\/reportClosing\.ts$|^src\/reports\/(tabList|prepaidByMonth)\.ts$/,
    reason: 'JSON of reports: micro USD are exact up to 9 billion USD',
  },
  { paths: /^src\/pages\/browser\/amounts\.ts$/, reason: 'the height of a bar' },
  { paths: /^src\/signer\/signerServer\.ts$/, reason: 'a log line' },
  { paths: /^src\/transport\/allowances\.ts$/, reason: 'an estimate of processor time' },
  {
    paths: /^(src\/accounting\/holderShares|packages\/audit\/src\/holderSnapshot)\.ts$/,
    reason: 'a count of holders: a remainder is smaller than it',
  },
  { paths: /^(packages\/localnet\/|src\/cli\/local\/giveFunds\.ts)/, reason: 'JSON-RPC of Solana has numbers' },
]
const assertionFolders = /^(src\/(payment|accounting|store)|packages\/ledger\/src)\//
const forbidden: readonly { readonly what: string; readonly pattern: RegExp }[] = [
  { what: 'a TODO without an issue number', pattern: /\bTODO\b(?!\(#\d+\))/ },
  { what: 'a FIXME', pattern: /\bFIXME\b/ },
  { what: 'a loop without a condition', pattern: /\bfor \(;;\)|\bwhile \(true\)/ },
  { what: 'a disabled type check', pattern: /@ts-(ignore|nocheck|expect-error)/ },
]

const sources = readSources(['src', 'packages'], /\.[jt]s$/)
const sqlFiles = readSources(['migrations', 'packages/ledger/sql'], /\.sql$/)

const parsed = sources.map(parse)
const lengths = parsed.flatMap(functionLengths)
const casts = parsed.reduce((sum, { nodes, tree }) => sum + nodes.filter((node) => isCast(node, tree)).length, 0)
const lineCount = sources.reduce((sum, { lines }) => sum + lines.length, 0)
const commentCount = sources.reduce((sum, { lines }) => sum + lines.filter(isComment).length, 0)

const problems = [
  ...sqlFiles.flatMap(nameAndLengthProblems),
  ...sources.flatMap(nameAndLengthProblems),
  ...sources.flatMap(homeProblems),
  ...parsed.flatMap(fetchProblems),
  ...sources.flatMap(forbiddenProblems),
  ...parsed.flatMap(bigintNameProblems),
  ...parsed.flatMap(lostUnitProblems),
  ...parsed.flatMap(floatMoneyProblems),
  ...parsed.flatMap(unnamedRoundingProblems),
  ...parsed.flatMap(lostCauseProblems),
  ...assertionProblems(),
  ...(median(sources.map(({ lines }) => lines.length)) > linesMedianMax ? ['the median file is too long'] : []),
  ...(casts > (lineCount / 1000) * castsPerThousandLinesMax ? [`${casts} casts in ${lineCount} lines`] : []),
]
for (const problem of problems) process.stderr.write(`${problem}\n`)
process.stdout.write(`${figures()}\n`)
process.exitCode = problems.length === 0 ? 0 : 1

function readSources(folders: readonly string[], accepted: RegExp): readonly Source[] {
  return execFileSync('git', ['ls-files', '-co', '--exclude-standard', ...folders], { encoding: 'utf8' })
    .split('\n')
    .filter((path) => accepted.test(path))
    .map((path): Source => {
      const text = readFileSync(path, 'utf8')
      return { path, text, lines: text.trimEnd().split('\n') }
    })
}

function parse({ path, text }: Source): Parsed {
  const options = { languageVersion: ts.ScriptTarget.Latest, jsDocParsingMode: ts.JSDocParsingMode.ParseNone }
  const tree = ts.createSourceFile(path, text, options, true)
  return { path, tree, nodes: nodesOf(tree) }
}

function nameAndLengthProblems({ path, lines }: Source): readonly string[] {
  const most = shortFiles[path] ?? linesMax
  return [
    ...(bannedNames.test(basename(path)) ? [`${path}: name the file by the one thing in it`] : []),
    ...(lines.length > most ? [`${path}: ${lines.length} lines, at most ${most}`] : []),
  ]
}

function homeProblems({ path, lines }: Source): readonly string[] {
  const code = lines.filter((line) => !isComment(line)).join('\n')
  return oneHome
    .filter(({ pattern, homes }) => pattern.test(code) && !homes.test(path))
    .map(({ what }) => `${path}: ${what} is read in one place only`)
}

/** A function that declares its `fetch`, or gets it, does not call the global one. */
function fetchProblems({ path, tree, nodes }: Parsed): readonly string[] {
  if (fetchHomes.test(path) || !/\bfetch\(/.test(tree.text)) return []
  const isGlobal = (call: ts.CallExpression) =>
    ts.findAncestor(call, (scope) => ts.isFunctionLike(scope) && nodesOf(scope).some(declaresFetch)) === undefined
  return nodes
    .filter((node) => ts.isCallExpression(node))
    .filter((call) => call.expression.getText(tree) === 'fetch' && isGlobal(call))
    .map(() => `${path}: fetch is called in one place only`)
}

function declaresFetch(node: ts.Node): boolean {
  const declares = ts.isParameter(node) || ts.isBindingElement(node) || ts.isVariableDeclaration(node)
  return declares && ts.isIdentifier(node.name) && node.name.text === 'fetch'
}

function forbiddenProblems({ path, text }: Source): readonly string[] {
  return forbidden.filter(({ pattern }) => pattern.test(text)).map(({ what }) => `${path}: ${what}`)
}

/** Values that are declared as `bigint`, also where they may be absent. */
function bigintNameProblems({ path, tree, nodes }: Parsed): readonly string[] {
  if (otherBigints.test(path)) return []
  return nodes
    .filter((node) => ts.isParameter(node) || ts.isPropertySignature(node) || ts.isVariableDeclaration(node))
    .filter(({ type }) => type !== undefined && /^bigint( \| (undefined|null))*$/.test(type.getText(tree)))
    .map(({ name }) => name.getText(tree))
    .filter((name) => !unitLast.test(name))
    .map((name) => `${path}: the bigint ${name} does not say its unit`)
}

/** Names of amounts whose type is inferred. Without types, an amount is seen by its form. */
function lostUnitProblems({ path, tree, nodes }: Parsed): readonly string[] {
  if (otherBigints.test(path)) return []
  return nodes
    .filter((node) => ts.isVariableDeclaration(node) || ts.isBindingElement(node))
    .filter(({ name }) => ts.isIdentifier(name) && !unitLast.test(name.text))
    .filter((node) => isAmount(ts.isBindingElement(node) ? node.propertyName : node.initializer))
    .map(({ name }) => `${path}: the amount ${name.getText(tree)} does not say its unit`)
}

function isAmount(node: ts.Node | undefined): boolean {
  if (node === undefined) return false
  if (ts.isIdentifier(node)) return moneyLast.test(node.text)
  if (ts.isPropertyAccessExpression(node)) return isAmount(node.name)
  if (ts.isParenthesizedExpression(node) || ts.isAwaitExpression(node)) return isAmount(node.expression)
  if (ts.isPrefixUnaryExpression(node)) return isAmount(node.operand)
  if (ts.isConditionalExpression(node)) return isAmount(node.whenTrue) || isAmount(node.whenFalse)
  if (ts.isCallExpression(node))
    return isAmount(node.expression) || (node.arguments.length > 1 && isZero(node.arguments.at(-1)))
  if (!ts.isBinaryExpression(node)) return false
  const { kind } = node.operatorToken
  if (kind === ts.SyntaxKind.QuestionQuestionToken) return isAmount(node.left) || isZero(node.right)
  const keepsUnit = kind === ts.SyntaxKind.PlusToken || kind === ts.SyntaxKind.MinusToken
  return keepsUnit && (isAmount(node.left) || isAmount(node.right))
}

function isZero(node: ts.Node | undefined): boolean {
  return node !== undefined && ts.isBigIntLiteral(node) && node.text === '0n'
}

function floatMoneyProblems({ path, tree, nodes }: Parsed): readonly string[] {
  if (moneyAsNumber.some(({ paths }) => paths.test(path))) return []
  const converted = nodes.filter(
    (node): node is ts.CallExpression => ts.isCallExpression(node) && node.expression.getText(tree) === 'Number',
  )
  return converted
    .flatMap((call) => call.arguments.flatMap(nodesOf))
    .filter((node) => ts.isIdentifier(node) && moneyLast.test(node.text))
    .map((name) => `${path}: ${name.getText(tree)} becomes a float: use displayNumber, or compute with bigints`)
}

/** A division of bigints cuts off, so a function says which way it rounds. Without types, a bigint is seen by its form. */
function unnamedRoundingProblems({ path, tree, nodes }: Parsed): readonly string[] {
  if (otherBigints.test(path)) return []
  return nodes
    .filter((node) => ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.SlashToken)
    .filter((node) => hasBigint(node, tree))
    .map((node) => `${path}: ${node.getText(tree)} rounds: name how, by a function of money.ts or rounding.ts`)
}

function hasBigint(node: ts.Node, tree: ts.SourceFile): boolean {
  if (ts.isBigIntLiteral(node) || (ts.isIdentifier(node) && moneyLast.test(node.text))) return true
  if (!ts.isCallExpression(node)) return node.getChildren(tree).some((child) => hasBigint(child, tree))
  return node.expression.getText(tree) === 'BigInt'
}

/** An error that is caught to throw another is its cause, unless a comment says why it is omitted: it quotes a secret. */
function lostCauseProblems({ path, tree, nodes }: Parsed): readonly string[] {
  return nodes
    .filter((node) => isCatchWithoutCause(node, tree) && !node.getText(tree).includes('// Omit the cause'))
    .map((node) => `${path}: the cause is lost in ${node.getText(tree).split('\n', 2).join(' ')}`)
}

function isCatchWithoutCause(node: ts.Node, tree: ts.SourceFile): boolean {
  if (ts.isCatchClause(node)) return node.variableDeclaration === undefined && throwsIn(node.block)
  if (!ts.isCallExpression(node) || !node.expression.getText(tree).endsWith('.catch')) return false
  const [handler] = node.arguments
  return (
    handler !== undefined && ts.isArrowFunction(handler) && handler.parameters.length === 0 && throwsIn(handler.body)
  )
}

function throwsIn(block: ts.Node): boolean {
  return nodesOf(block).some(ts.isThrowStatement)
}

/** One assertion for each exported function, where money is decided and stored. */
function assertionProblems(): readonly string[] {
  const counted = assertionCounts()
  return counted
    .filter(({ assertions, functions: exported }) => assertions < exported)
    .map((count) => `${count.folder}: ${count.assertions} assertions for ${count.functions} exported functions`)
}

function assertionCounts() {
  const inFolders = parsed.filter(({ path }) => assertionFolders.test(path))
  const byFolder = Map.groupBy(inFolders, ({ path }) => assertionFolders.exec(path)?.[0] ?? '')
  return [...byFolder].map(([folder, files]) => ({
    folder,
    assertions: files.flatMap(({ tree, nodes }) => nodes.filter((node) => isAssertion(node, tree))).length,
    functions: files.flatMap(({ tree }) => tree.statements.filter(isExportedFunction)).length,
  }))
}

function isAssertion(node: ts.Node, tree: ts.SourceFile): boolean {
  return ts.isCallExpression(node) && node.expression.getText(tree).startsWith('assert')
}

function isExportedFunction(node: ts.Statement): boolean {
  return (
    ts.isFunctionDeclaration(node) && node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true
  )
}

/** The node and all below it. */
function nodesOf(node: ts.Node): readonly ts.Node[] {
  const nodes: ts.Node[] = []
  const visit = (each: ts.Node): void => {
    nodes.push(each)
    ts.forEachChild(each, visit)
  }
  visit(node)
  return nodes
}

function isComment(line: string): boolean {
  return /^\s*(\/\/|\/\*|\*)/.test(line)
}

function functionLengths({ tree, nodes }: Parsed): readonly number[] {
  return nodes
    .filter((node) => ts.isFunctionLike(node) && 'body' in node && node.body !== undefined)
    .map((node) => lineAt(tree, node.getEnd()) - lineAt(tree, node.getStart(tree)) + 1)
}

function lineAt(tree: ts.SourceFile, position: number): number {
  return tree.getLineAndCharacterOfPosition(position).line
}

/** `as const` narrows and `satisfies` checks; everything else with `as` believes. */
function isCast(node: ts.Node, tree: ts.SourceFile): boolean {
  return (ts.isAsExpression(node) && node.type.getText(tree) !== 'const') || ts.isNonNullExpression(node)
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
}

function linesOf(house: RegExp): number {
  return sources.filter(({ path }) => house.test(path)).reduce((sum, { lines }) => sum + lines.length, 0)
}

function figures(): string {
  const p90 = lengths.toSorted((a, b) => a - b)[Math.floor(lengths.length * 0.9)] ?? 0
  const long = lengths.filter((length) => length > functionLinesMax).length
  return [
    `tidy: ${sources.length} files, ${lineCount} lines, median ${median(sources.map(({ lines }) => lines.length))}`,
    `${lengths.length} functions, median ${median(lengths)}, p90 ${p90}, over ${functionLinesMax}: ${long}`,
    `${casts} casts, ${Math.round((commentCount / lineCount) * 100)} % comments`,
    `lines of the till ${linesOf(/^src\/(?!products|sourcing|rendering|start\/goods)/)}, of the goods ${linesOf(/^src\/(products|sourcing|rendering|start\/goods)\//)}`,
  ].join('; ')
}
