// Transpiles every source file of the App and of the packages to JavaScript below a folder: `src/` to the folder itself,
// and `packages/NAME/src/` to `packages/NAME/`. Types are not checked. `npm run types` does that for the whole project.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import ts from 'typescript'
import { listFiles, readWorkspacePackages } from '../workspaces.ts'

const projectRoot = join(import.meta.dirname, '..', '..')

export function transpileSources(folder: string): void {
  const packages = readWorkspacePackages(projectRoot)
  const outputBySpecifier = new Map(
    packages.flatMap(({ exports }) =>
      [...exports].map(([specifier, file]) => [specifier, toOutputPath(file)] as const),
    ),
  )
  for (const sources of ['src', ...packages.map((one) => join(one.folder, 'src'))])
    for (const file of listFiles(projectRoot, sources, /(?<!\.test|\.d)\.ts$/))
      transpileFile(file, folder, outputBySpecifier)
}

/** The path of the output for a source file, for example `packages/fbc/facts/catalog.js`. */
export function toOutputPath(file: string): string {
  return file.replace(/^src\/|(?<=^packages\/[^/]+\/)src\//, '').replace(/\.ts$/, '.js')
}

function transpileFile(file: string, folder: string, outputBySpecifier: ReadonlyMap<string, string>): void {
  const { outputText } = ts.transpileModule(readFileSync(join(projectRoot, file), 'utf8'), {
    fileName: file,
    compilerOptions: {
      target: ts.ScriptTarget.ES2024,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
      rewriteRelativeImportExtensions: true,
    },
  })
  const output = toOutputPath(file)
  const path = join(folder, output)
  mkdirSync(dirname(path), { recursive: true })
  // The packages are not published, so the output imports their files.
  writeFileSync(
    path,
    outputText.replaceAll(
      /(?<=\bfrom |\bimport\()(['"])(@catalog-bot\/[^'"]+)\1/g,
      (_all, quote: string, specifier: string) => {
        const target = outputBySpecifier.get(specifier)
        if (target === undefined) throw new Error(`${file} imports ${specifier}, which is not exported`)
        const relative = posix.relative(posix.dirname(output), target)
        return `${quote}${relative.startsWith('.') ? relative : `./${relative}`}${quote}`
      },
    ),
  )
}
