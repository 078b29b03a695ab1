import { proofs } from './proofs.ts'

export type ProofWords =
  | { readonly kind: 'list' }
  | { readonly kind: 'unknown'; readonly name: string }
  | { readonly kind: 'run'; readonly programs: readonly Program[]; readonly options: readonly string[] }

interface Program {
  readonly name: string
  readonly file: string
}

/** Reads the names of proofs or programs. From the first word with a dash on, all words are options of each program. */
export function parseWords(words: readonly string[]): ProofWords {
  const at = words.findIndex((word) => word.startsWith('-'))
  const [names, options] = at === -1 ? [words, []] : [words.slice(0, at), words.slice(words[at] === '--' ? at + 1 : at)]
  if (names.length === 0) return { kind: 'list' }
  const programs: Program[] = []
  for (const name of names) {
    const found = programsOf(name)
    if (found === undefined) return { kind: 'unknown', name }
    programs.push(...found)
  }
  return { kind: 'run', programs, options }
}

function programsOf(name: string): readonly Program[] | undefined {
  const proof = proofs[name]
  const all = Object.values(proofs).flatMap(({ programs }) => Object.entries(programs))
  const found = proof === undefined ? all.filter(([program]) => program === name) : Object.entries(proof.programs)
  return found.length === 0 ? undefined : found.map(([program, file]) => ({ name: program, file }))
}
