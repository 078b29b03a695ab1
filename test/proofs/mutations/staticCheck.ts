import { dirname, join } from 'node:path'
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

// tsconfig.json leaves out the scripts of pages, which use the names of a browser.
const pageScripts = 'src/pages/browser/'
const pageConfig = 'test/pages/tsconfig.json'

export function openStaticCheck(root: string): StaticCheck {
  const service = openChecker(root, 'tsconfig.json')
  const pages = openChecker(root, pageConfig)
  return {
    refuses({ file, text, leavesPromise }) {
      if (!file.endsWith('.ts')) return false
      if (leavesPromise) return true
      return (file.startsWith(pageScripts) ? pages : service).hasError(join(root, file), text)
    },
  }
}

function openChecker(root: string, configFile: string) {
  const path = join(root, configFile)
  const { config } = ts.readConfigFile(path, ts.sys.readFile)
  const include = configFile === pageConfig ? {} : { include: ['src', 'packages'] }
  const { options, fileNames } = ts.parseJsonConfigFileContent({ ...config, ...include }, ts.sys, dirname(path))
  const changed = new Map<string, string>()
  let version = 0
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => fileNames,
    getScriptVersion: (name) => (changed.has(name) ? String(version) : '0'),
    getScriptSnapshot(name) {
      const text = changed.get(name) ?? ts.sys.readFile(name)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    readDirectory: ts.sys.readDirectory,
  })
  return {
    hasError(file: string, text: string): boolean {
      version += 1
      changed.set(file, text)
      const found = [...service.getSyntacticDiagnostics(file), ...service.getSemanticDiagnostics(file)]
      changed.delete(file)
      return found.length > 0
    },
  }
}
