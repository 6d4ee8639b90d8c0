// Updates everything that is generated from rules: the lists that the program loads, and the pages for readers. `node
// scripts/rules.ts [--check] [ROOT]`. With --check, writes nothing, and exits with 1 if a file would change.
import { join } from 'node:path'
import { renderRuleLists } from './rule-lists.ts'
import { updateGeneratedFiles } from './workspaces.ts'

const cliArguments = process.argv.slice(2)
const projectRoot = cliArguments.find((arg) => !arg.startsWith('--')) ?? join(import.meta.dirname, '..')
const isCheckOnly = cliArguments.includes('--check')

const outdatedLists = updateGeneratedFiles(projectRoot, renderRuleLists(projectRoot), isCheckOnly)
// Loaded only now, because the pages depend on the lists.
const { renderRulePages: renderPages } = await import('./rule-pages.ts')
const outdatedPages = updateGeneratedFiles(projectRoot, await renderPages(projectRoot), isCheckOnly)
for (const path of [...outdatedLists, ...outdatedPages]) {
  process.stdout.write(`${path}: ${isCheckOnly ? 'is out of date' : 'updated'}\n`)
  if (isCheckOnly) process.exitCode = 1
}
