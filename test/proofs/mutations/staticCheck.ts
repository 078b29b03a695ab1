import { join } from 'node:path'
import ts from 'typescript'
import type { Mutant } from './mutant.ts'

/*
 * Mutants that `npm run check` refuses, so they need no test: their file does not type-check, or a promise of it is
 * left alone (oxlint's no-floating-promises). Only the mutated file is checked; a warm language service takes about a
 * second.
 */

export interface StaticCheck {
  refuses(mutant: Mutant): boolean
}

export function openStaticCheck(root: string): StaticCheck {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options, fileNames } = ts.parseJsonConfigFileContent(
    { ...config, include: ['src', 'packages'] },
    ts.sys,
    root,
  )
  const changed = new Map<string, string>()
  let version = 0
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => fileNames,
    getScriptVersion: (path) => (changed.has(path) ? String(version) : '0'),
    getScriptSnapshot(path) {
      const text = changed.get(path) ?? ts.sys.readFile(path)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    readDirectory: ts.sys.readDirectory,
  })
  return {
    refuses({ file, text, leavesPromise }) {
      if (!file.endsWith('.ts')) return false
      if (leavesPromise) return true
      const path = join(root, file)
      version += 1
      changed.set(path, text)
      const found = [...service.getSyntacticDiagnostics(path), ...service.getSemanticDiagnostics(path)]
      changed.delete(path)
      return found.length > 0
    },
  }
}
