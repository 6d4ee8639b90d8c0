// Transpiles every source file to JavaScript at the same path below a folder. Types are not checked. `npm run types`
// does that for the whole project.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'

const sourcesFolder = join(import.meta.dirname, '..', '..', 'src')

export function transpileSources(folder: string): void {
  for (const path of readdirSync(sourcesFolder, { recursive: true, encoding: 'utf8' }))
    if (path.endsWith('.ts') && !path.endsWith('.test.ts') && !path.endsWith('.d.ts'))
      transpileFile(path, folder)
}

function transpileFile(path: string, folder: string): void {
  const { outputText } = ts.transpileModule(readFileSync(join(sourcesFolder, path), 'utf8'), {
    fileName: path,
    compilerOptions: {
      target: ts.ScriptTarget.ES2024,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
      rewriteRelativeImportExtensions: true,
    },
  })
  const file = join(folder, path.replace(/\.ts$/, '.js'))
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, outputText)
}
