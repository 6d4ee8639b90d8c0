// The pages of rules with all examples, for the built program and the site. `node scripts/build/write-rule-pages.ts
// DIRECTORY` writes them from a checkout.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readRulePages } from '../rule-pages.ts'

const projectRoot = join(import.meta.dirname, '..', '..')

/** Writes `rule-pages.json`. All pages are in one file, because a disk allocates at least one block for each file. */
export async function writeRulePages(distFolder: string): Promise<void> {
  const pages = await readRulePages(projectRoot, { isFull: true })
  writeFileSync(join(distFolder, 'rule-pages.json'), JSON.stringify(Object.fromEntries(pages)))
}

if (import.meta.main) await writeRulePages(process.argv[2] ?? '.')
