// Updates everything that is generated from rules: the lists that the program loads, and the pages for readers. `node
// scripts/rules.ts [--check] [ROOT]`. With --check, writes nothing, and exits with 1 if a file would change.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { renderRuleLists } from './rule-lists.ts'

const cliArguments = process.argv.slice(2)
const projectRoot = cliArguments.find((arg) => !arg.startsWith('--')) ?? join(import.meta.dirname, '..')
const isCheckOnly = cliArguments.includes('--check')

function updateOutdatedFiles(files: ReadonlyMap<string, string>): number {
  let changed = 0
  for (const [path, text] of files) {
    const file = join(projectRoot, path)
    if (existsSync(file) && readFileSync(file, 'utf8') === text) continue
    changed++
    process.stdout.write(`${path}: ${isCheckOnly ? 'is out of date' : 'updated'}\n`)
    if (!isCheckOnly) writeFileSync(file, text)
  }
  return changed
}

const outdatedListCount = updateOutdatedFiles(renderRuleLists(projectRoot))
// Loaded only now, because the pages depend on the lists.
const { renderRulePages: renderPages } = await import('./rule-pages.ts')
const outdatedPageCount = updateOutdatedFiles(await renderPages(projectRoot))
if (isCheckOnly && outdatedListCount + outdatedPageCount > 0) process.exitCode = 1
