// Prints the notes of a release, which are the section of its version in CHANGELOG.md: `npm run release-notes -- VERSION`.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Throws if the changelog has no section for the version, or an empty one. */
export function extractReleaseNotes(changelog: string, version: string): string {
  const section = changelog.split(/^## /m).find((one) => one.startsWith(`[${version}] - `))
  const notes = section?.slice(section.indexOf('\n')).trim()
  if (!notes) throw new Error(`CHANGELOG.md has no entries under "## [${version}] - DATE"`)
  // GitHub keeps the line breaks of a list entry, so each entry becomes one line.
  return notes.replaceAll(/\n +(?![\s-])/g, ' ')
}

if (import.meta.main)
  try {
    const changelog = readFileSync(join(import.meta.dirname, '../CHANGELOG.md'), 'utf8')
    console.log(extractReleaseNotes(changelog, process.argv[2] ?? ''))
  } catch (error) {
    console.error((error as Error).message)
    process.exitCode = 1
  }
