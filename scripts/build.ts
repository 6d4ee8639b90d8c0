// Builds `dist/`, what the published package runs: every source file as JavaScript at the same place, and over that the
// command line and `validate` joined into one script, so that they start without looking for sixty files. The sandbox is
// in it as one script, for the demo.
// usage: node scripts/build.ts [DIRECTORY]   (default: dist)
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import ts from 'typescript'
import { rollUpTypes } from './api-report.ts'

const root = join(import.meta.dirname, '..')
const [folder = 'dist', ...others] = process.argv.slice(2)
if (folder.startsWith('-') || others.length > 0) {
  console.error('usage: node scripts/build.ts [DIRECTORY]   (default: dist)')
  process.exit(2)
}
const dist = resolve(root, folder)

/** What `validate` runs, and what it loads only when it has to. */
const joined = [
  'cli.js',
  'cli/output.js',
  'cli/validate.js',
  'examine/catalogs/facts-cache.js',
  'checks/validation/validate-fully.js',
  'findings/render-text.js',
  'findings/render-sarif.js',
  'checks/all-rules.js',
].map((file) => join(dist, file))

rmSync(dist, { recursive: true, force: true })
for (const path of readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }))
  if (path.endsWith('.ts') && !path.endsWith('.test.ts') && !path.endsWith('.d.ts')) transpile(path)
rollUpTypes(join(dist, 'index.d.ts'), { isCheck: true })

/** The sources are in `dist/` as files of their own, some of which start others that lie beside them. */
const leaveSources: Plugin = {
  name: 'leave-sources',
  setup(resolving) {
    resolving.onResolve({ filter: /^\.{1,2}\// }, ({ path, resolveDir }) => {
      const file = relative(join(root, 'src'), resolve(resolveDir, path))
      if (file.startsWith('..')) return undefined
      return { path: `../${file.split(sep).join('/').replace(/\.ts$/, '.js')}`, external: true }
    })
  },
}

// The demo's world is one script beside the rest. It lies as deep as its source does, for it asks where it lies.
await build({
  entryPoints: [join(root, 'sandbox/demo/run-demo.ts')],
  outfile: join(dist, 'demo/run-demo.js'),
  plugins: [leaveSources],
  allowOverwrite: true,
  bundle: true,
  format: 'esm',
  packages: 'external',
  platform: 'node',
  target: 'node22',
  logLevel: 'warning',
})

/** One source file as JavaScript. Its types are not looked at: `npm run types` does that, for all at once. */
function transpile(path: string): void {
  const { outputText } = ts.transpileModule(readFileSync(join(root, 'src', path), 'utf8'), {
    fileName: path,
    compilerOptions: {
      target: ts.ScriptTarget.ES2024,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
      rewriteRelativeImportExtensions: true,
    },
  })
  const file = join(dist, path.replace(/\.ts$/, '.js'))
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, outputText)
}

/** The one package that every start needs: the project's, wherever the output goes. Beside that may be none, or another. */
const commander = fileURLToPath(import.meta.resolve('commander'))
const isOfCommander = (importer: string) => importer.startsWith(dirname(commander) + sep)

/** What is loaded only when it has to be stays the file that it is; so do all other packages. */
const leaveOthers: Plugin = {
  name: 'leave-others',
  setup(resolving) {
    resolving.onResolve({ filter: /.*/ }, ({ importer, kind, path, resolveDir }) => {
      if (kind === 'entry-point' || isOfCommander(importer)) return undefined
      if (!path.startsWith('.') && !path.startsWith('/'))
        return path === 'commander' ? { path: commander } : { path, external: true }
      const file = resolve(resolveDir, path)
      if (kind !== 'dynamic-import' || joined.includes(file)) return undefined
      return { path: `./${relative(dist, file)}`, external: true }
    })
  },
}

/** commander can start other programs, and we have none: to load what starts them takes 3 ms of 20. */
const startNothing: Plugin = {
  name: 'start-nothing',
  setup(building) {
    building.onResolve({ filter: /^node:child_process$/ }, ({ importer }) =>
      isOfCommander(importer) ? { path: 'spawn', namespace: 'later' } : undefined,
    )
    building.onLoad({ filter: /^spawn$/, namespace: 'later' }, () => ({
      contents: `exports.spawn = (...given) => require('node:child_process').spawn(...given)`,
    }))
  },
}

const script = join(dist, 'cli.joined.js')
const { metafile } = await build({
  entryPoints: [join(dist, 'cli.js')],
  outfile: script,
  bundle: true,
  // One function, called by bin/catalog-bot.cjs.
  format: 'cjs',
  banner: { js: '(function (require, load, commandFolder) {' },
  footer: { js: '})' },
  define: { 'import.meta.dirname': 'commandFolder' },
  platform: 'node',
  target: 'node22',
  minifyWhitespace: true,
  minifySyntax: true,
  metafile: true,
  plugins: [startNothing, leaveOthers],
  logLevel: 'warning',
})

const text = readFileSync(script, 'utf8')
  .replace(/^#!.*\n/, '')
  // A script that is no module has no import() of its own.
  .replaceAll('import("./', 'load("./')
writeFileSync(script, `// ${createHash('sha256').update(text).digest('hex').slice(0, 16)}\n${text}`)

for (const file of Object.keys(metafile.inputs).map((input) => relative(dist, resolve(input)))) {
  const isElsewhere = !file.startsWith('..') && !file.startsWith('cli/')
  if (isElsewhere && /\bimport\.meta\b/.test(readFileSync(join(dist, file), 'utf8')))
    throw new Error(`${file} asks where it lies, and would be told where the commands lie`)
}
