// Lists exported values of source files that no other file imports, including the sandbox, the scripts, the benchmarks,
// and the tests. `node scripts/dead-exports.ts [ROOT]` exits with 1 if there are any.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createImportResolver, listFiles, readWorkspacePackages, type ImportResolver } from './workspaces.ts'

/** The folders whose exports need a use, and the folders whose uses count. */
const checkedFolders = ['packages', 'src', 'sandbox', 'simulate', 'scripts']
const importingFolders = [...checkedFolders, 'bench', 'test']
const jestConfigFile = 'jest.config.js'

/** Exports with external users: the users of the package, and `catalog-bot demo`, which loads the file by its path. */
const publicEntryFiles = new Set(['src/index.ts', 'sandbox/demo/run-demo.ts'])

const exportPattern = /^export (?:async )?(?:const|let|function\*?|class) (?<name>\w+)/gm
/** `import { a, type b as c } from './x.ts'`, the same with export, and `const { a } = await import('./x.ts')`. */
const namedImportPattern =
  /(?:\{(?<names>[^{}]*)\}\s*(?:from|=\s*await import\()|(?<all>\*)(?: as \w+)? from)\s*['"](?<from>[^'"\n]+)['"]/g
/** `(await import('./x.ts')).a`, and `import('./x.ts')` whose names are taken later: all of them. */
const dynamicImportPattern = /import\(\s*['"](?<from>[^'"\n]+)['"]\s*\)(?:\)\.(?<name>\w+))?/g

export interface DeadExport {
  readonly file: string
  readonly name: string
}

export function findDeadExports(root: string): DeadExport[] {
  const files = importingFolders.flatMap((folder) => listFiles(root, folder, /\.(?:ts|mjs|cjs)$/))
  if (existsSync(join(root, jestConfigFile))) files.push(jestConfigFile)
  const textByFile = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]))
  const resolveImport = createImportResolver(readWorkspacePackages(root))
  const used = new Set(
    [...textByFile].flatMap(([file, text]) => findImportedNames(file, text, resolveImport)),
  )
  return [...textByFile].flatMap(([file, text]) =>
    publicEntryFiles.has(file) || !checkedFolders.includes(file.split('/')[0] ?? '') || used.has(`${file} *`)
      ? []
      : [...text.matchAll(exportPattern)]
          .map((match) => match.groups?.name ?? '')
          .filter((name) => !used.has(`${file} ${name}`))
          .map((name) => ({ file, name })),
  )
}

/** `file name` for each name that is imported; `file *` where all may be. */
function findImportedNames(file: string, text: string, resolveImport: ImportResolver): string[] {
  const uses: string[] = []
  for (const { groups } of text.matchAll(namedImportPattern)) {
    const target = resolveImport(file, groups?.from ?? '')
    if (groups?.all !== undefined) uses.push(`${target} *`)
    for (const name of groups?.names?.split(',') ?? [])
      uses.push(
        `${target} ${
          name
            .trim()
            .replace(/^type /, '')
            .split(/\s+as\s+|\s*:/)[0] ?? ''
        }`,
      )
  }
  for (const { groups, index } of text.matchAll(dynamicImportPattern)) {
    // Destructured immediately: already handled above.
    if (/\}\s*=\s*await $/.test(text.slice(Math.max(0, index - 20), index))) continue
    uses.push(`${resolveImport(file, groups?.from ?? '')} ${groups?.name ?? '*'}`)
  }
  return uses
}

if (process.argv[1] === import.meta.filename) {
  const dead = findDeadExports(process.argv[2] ?? join(import.meta.dirname, '..'))
  for (const { file, name } of dead)
    process.stdout.write(
      `${file}: exports ${name}, which no other file imports: remove the export keyword or the whole declaration\n`,
    )
  process.stdout.write(
    dead.length === 0 ? 'exports: all exports are imported\n' : `exports: ${dead.length} unused\n`,
  )
  process.exitCode = dead.length === 0 ? 0 : 1
}
