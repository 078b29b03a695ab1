import ts from 'typescript'
import { type Change, type Mutant, mutantOf } from './mutant.ts'

/* Mutants of TypeScript, out of its syntax tree. Types are stripped before a test runs, so a mutant need not type-check. */

const flipped = new Map<ts.SyntaxKind, string>([
  [ts.SyntaxKind.LessThanToken, '<='],
  [ts.SyntaxKind.LessThanEqualsToken, '<'],
  [ts.SyntaxKind.GreaterThanToken, '>='],
  [ts.SyntaxKind.GreaterThanEqualsToken, '>'],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, '==='],
  [ts.SyntaxKind.AmpersandAmpersandToken, '||'],
  [ts.SyntaxKind.BarBarToken, '&&'],
  [ts.SyntaxKind.MinusToken, '+'],
  [ts.SyntaxKind.PlusToken, '-'],
])

export function mutateTypeScript(file: string, source: string): readonly Mutant[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true)
  const changes: Change[] = []
  const visit = (node: ts.Node): void => {
    if (isOutOfReach(node)) return
    changes.push(...changesOf(node, tree))
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return changes.flatMap((change) => mutantOf(file, source, change) ?? [])
}

/** Assertions guard against bugs that cannot happen, logs change nothing, and messages and types decide nothing. */
function isOutOfReach(node: ts.Node): boolean {
  if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node)) return true
  if (ts.isTypeAliasDeclaration(node) || ts.isTemplateExpression(node)) return true
  if (!ts.isCallExpression(node)) return false
  const called = node.expression.getText()
  return /^(assert|assertNever|describeError)$/.test(called) || /\blog\.\w+$/.test(called)
}

function changesOf(node: ts.Node, tree: ts.SourceFile): readonly Change[] {
  const change = (part: ts.Node, after: string, operator: string): Change => ({
    from: part.getStart(tree),
    to: part.getEnd(),
    after,
    operator,
  })
  const text = (part: ts.Node) => part.getText(tree)
  if (ts.isBinaryExpression(node)) return binaryChange(node, change)
  if (ts.isBlock(node)) return swappedAwaits(node, tree)
  if (ts.isIfStatement(node)) {
    const { expression, elseStatement } = node
    const negated = change(expression, `!(${text(expression)})`, 'negate condition')
    const isGuard = elseStatement === undefined && /^\{?\s*(return|throw)\b/.test(text(node.thenStatement))
    return isGuard ? [negated, change(node, '{}', 'remove refusal')] : [negated]
  }
  if (ts.isConditionalExpression(node))
    return [change(node.condition, `!(${text(node.condition)})`, 'negate condition')]
  if (ts.isExpressionStatement(node)) return isOutOfReach(node.expression) ? [] : [change(node, '{}', 'drop statement')]
  if (ts.isAwaitExpression(node)) {
    const dropped = change(node, `(${text(node.expression)})`, 'drop await')
    return [{ ...dropped, leavesPromise: ts.isExpressionStatement(node.parent) }]
  }
  if (ts.isNumericLiteral(node)) return [change(node, `(${text(node)} + 1)`, 'add one')]
  if (ts.isBigIntLiteral(node)) return [change(node, `(${text(node)} + 1n)`, 'add one')]
  if (node.kind === ts.SyntaxKind.TrueKeyword) return [change(node, 'false', 'flip boolean')]
  if (node.kind === ts.SyntaxKind.FalseKeyword) return [change(node, 'true', 'flip boolean')]
  if (ts.isArrayLiteralExpression(node) && node.elements.length > 0) return [change(node, '[]', 'empty array')]
  return []
}

/** "Record, then send" in the other order. */
function swappedAwaits({ statements }: ts.Block, tree: ts.SourceFile): readonly Change[] {
  return statements.flatMap((second, at): readonly Change[] => {
    const first = statements[at - 1]
    if (first === undefined || !awaits(first) || !awaits(second)) return []
    const [from, to] = [first.getStart(tree), second.getEnd()]
    return [{ from, to, after: `${second.getText(tree)}\n${first.getText(tree)}`, operator: 'swap awaits' }]
  })
}

function awaits(statement: ts.Statement): boolean {
  if (ts.isExpressionStatement(statement)) return ts.isAwaitExpression(statement.expression)
  if (!ts.isVariableStatement(statement)) return false
  return statement.declarationList.declarations.some(
    ({ initializer }) => initializer !== undefined && ts.isAwaitExpression(initializer),
  )
}

function binaryChange(
  { operatorToken, left, right }: ts.BinaryExpression,
  change: (part: ts.Node, after: string, operator: string) => Change,
): readonly Change[] {
  const after = flipped.get(operatorToken.kind)
  const isText = [left, right].some((part) => ts.isStringLiteral(part) || ts.isTemplateExpression(part))
  const isSum = operatorToken.kind === ts.SyntaxKind.PlusToken
  return after === undefined || (isSum && isText) ? [] : [change(operatorToken, after, 'flip operator')]
}
