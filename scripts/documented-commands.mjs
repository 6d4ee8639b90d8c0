// Runs the commands in README, CONTRIBUTING, and docs exactly as written, with the reader's Node.js. In a catalog repository, they
// run with the project's, because the published command may require a newer one.
// It is plain JavaScript without packages, because it runs before `npm ci` and on an older Node.js than the project's.
//
// Every ```sh block counts, line by line. A comment before the block gives the directory, if it is not the checkout:
//   <!-- ci: in a copy -->               a temporary copy of the checkout
//   <!-- ci: in a catalog repository --> an author's repository with the package for authors installed
//   <!-- ci: PATH in a catalog repository -->  the block is the content of that file, for the next commands
//   <!-- ci: ends with 0 or 1 -->        the exit status depends on network access
//   <!-- ci: prints -->                  the ```text block is what the command before it prints; a line "…" stands for any lines
//   <!-- ci: until "TEXT" -->            stops a command that does not exit once it has printed the text
//   <!-- ci: not run, REASON -->         cannot run here; counted and reported
// `cd DIRECTORY` on a line of its own holds until the end of the page.
// In prose, `npm run NAME` must exist, and `node FILE` is not allowed: the reader's Node.js may be too old for it.
import { execFileSync, spawn } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runInParallel } from './run-in-parallel.mjs'
import { startStepTimer } from './step-times.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/**
 * @typedef {{ file: string, line: number, command: string, place: 'checkout' | 'copy' | 'catalog', until?: string, statuses?: number[], fileName?: string, text?: string, notRun?: string, prints?: string[] }} Documented
 */

/** The commands of a page, in order, and what is wrong with the page. @returns {{ commands: Documented[], problems: string[] }} */
export function findDocumentedCommands(file, text, scripts) {
  const commands = []
  const problems = []
  const lines = text.split('\n')
  let directive = {}
  let fence
  for (const [index, line] of lines.entries()) {
    const at = `${file}:${index + 1}`
    const opened = /^\s*```(\w*)/.exec(line)
    if (fence !== undefined) {
      if (opened && opened[1] === '') fence = undefined
      else if (directive.fileName !== undefined) addLine(line, index)
      else if (directive.prints) addPrintedLine(line, at)
      else if (fence === 'sh') addCommand(line, index)
      if (fence === undefined) directive = {}
      continue
    }
    if (opened) {
      fence = opened[1]
      continue
    }
    const [, comment] = /^\s*<!-- ci: (.*) -->\s*$/.exec(line) ?? []
    if (comment !== undefined) {
      const parsed = parseDirective(comment)
      if (parsed === undefined) problems.push(`${at}: unknown "ci:" comment "${comment}"`)
      else directive = { ...directive, ...parsed }
    } else if (line.trim() !== '' && Object.keys(directive).length > 0) {
      problems.push(`${at}: put a "ci:" comment directly before a block of commands`)
      directive = {}
    }
    problems.push(...problemsOfProse(line, scripts).map((problem) => `${at}: ${problem}`))
  }
  return { commands, problems }

  function addLine(line, index) {
    const last = commands.at(-1)
    const { fileName, place } = directive
    if (last?.fileName === fileName && last.file === file) last.text += `${line}\n`
    else
      commands.push({
        file,
        line: index + 1,
        command: `(the file ${fileName})`,
        place,
        fileName,
        text: `${line}\n`,
      })
  }

  function addPrintedLine(line, at) {
    const last = commands.at(-1)
    if (last?.file !== file || last.fileName !== undefined) problems.push(`${at}: no command prints this`)
    else (last.prints ??= []).push(line.trim())
  }

  function addCommand(line, index) {
    const last = commands.at(-1)
    if (last?.isOpen) {
      last.command += `\n${line.replace(/\\$/, '\\')}`
      last.isOpen = line.endsWith('\\')
      return
    }
    const command = line
      .replace(/\s+# .*$/, '')
      .replace(/^\$ /, '')
      .trim()
    if (command === '' || command.startsWith('#')) return
    commands.push({
      file,
      line: index + 1,
      command,
      place: 'checkout',
      ...directive,
      isOpen: command.endsWith('\\'),
    })
  }
}

function parseDirective(text) {
  if (text === 'in a copy') return { place: 'copy' }
  if (text === 'in a catalog repository') return { place: 'catalog' }
  if (text === 'prints') return { prints: true }
  const named = /^([\w./-]+) in a catalog repository$/.exec(text)
  if (named) return { place: 'catalog', fileName: named[1] }
  const ends = /^ends with ([\d or]+)$/.exec(text)
  if (ends) return { statuses: ends[1].split(' or ').map(Number) }
  const until = /^until "(.+)"$/.exec(text)
  if (until) return { until: until[1] }
  const notRun = /^not run, (.+)$/.exec(text)
  return notRun ? { notRun: notRun[1] } : undefined
}

function problemsOfProse(line, scripts) {
  const problems = []
  for (const [, code] of line.matchAll(/`([^`]+)`/g)) {
    const script = /^npm run (?:--silent )?([\w:-]+)/.exec(code)
    if (script && !(script[1] in scripts)) problems.push(`the npm script "${script[1]}" does not exist`)
    if (/^node (?!_modules)\S+\.(?:ts|mjs|js)\b/.test(code))
      problems.push(`"${code}" needs the project's Node.js; use an npm script instead`)
  }
  return problems
}

/** The parts of a script that only runs other scripts. @returns {string[]} */
export function splitCompositeCommand(command, scripts) {
  const name = /^npm (?:run ([\w:-]+)|(test))$/.exec(command)
  const script = name && scripts[name[1] ?? name[2]]
  const steps = /^node scripts\/run-steps\.mjs (.+)$/.exec(script ?? '')
  const parts = steps
    ? steps[1].split(/[ +]/).map((step) => (step === 'test' ? 'npm test' : `npm run ${step}`))
    : (script?.split(' && ') ?? [])
  const isComposite = parts.length > 0 && parts.every((part) => /^npm (run [\w:-]+|test)$/.test(part))
  return isComposite ? parts.flatMap((part) => splitCompositeCommand(part, scripts)) : [command]
}

/**
 * Removes what has already run from the start of a command: a copy of the checkout has the installed packages, too, but not the
 * package for authors.
 * @param {Pick<Documented, 'command' | 'place'>} documented
 * @param {ReadonlySet<string>} finished places and commands
 * @returns {string}
 */
export function removeFinishedPreparation({ command, place }, finished) {
  const prepared = place === 'checkout' ? ['npm ci', 'npm run build:author'] : ['npm ci']
  return prepared.reduce(
    (rest, step) =>
      rest.startsWith(`${step} && `) && finished.has(`checkout ${step}`)
        ? rest.slice(`${step} && `.length)
        : rest,
    command,
  )
}

function pagesOf(paths) {
  return paths.flatMap((path) => {
    if (!statSync(join(root, path)).isDirectory()) return [path]
    return readdirSync(join(root, path), { recursive: true })
      .map((name) => join(path, name))
      .filter((name) => name.endsWith('.md') && !name.startsWith(join('docs', 'rules')))
      .sort()
  })
}

async function main(argv) {
  const files = []
  const except = []
  for (let at = 0; at < argv.length; at++) {
    if (argv[at] === '--except') except.push(argv[++at])
    else files.push(argv[at])
  }
  if (files.length === 0 || except.includes(undefined)) {
    console.error('usage: node scripts/documented-commands.mjs [--except COMMAND] PAGE|FOLDER...')
    return 2
  }
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const found = pagesOf(files).map((file) =>
    findDocumentedCommands(file, readFileSync(join(root, file), 'utf8'), scripts),
  )
  const problems = found.flatMap((page) => page.problems)
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) return 1

  const scratch = mkdtempSync(join(tmpdir(), 'documented-'))
  try {
    const finished = new Set()
    const times = startStepTimer()
    const counts = { run: 0, before: 0, later: 0, notRun: [] }
    const directories = createDirectories(scratch)
    /** Where `cd` led, by directory and page. */
    const folders = new Map()
    for (const one of found.flatMap(({ commands }) => commands)) {
      const where = `${one.file}:${one.line}`
      if (one.notRun !== undefined) {
        counts.notRun.push(`${where} (${one.notRun})`)
        continue
      }
      const note = (command, place = one.place) => {
        counts.run++
        // `npm ci && npm test` has run both.
        for (const part of [command, ...command.split(' && ')]) finished.add(`${place} ${part}`)
      }
      const isHere = one.place === 'checkout'
      // The other directories are built from the checkout. A page may name them before it names these commands.
      for (const needed of isHere ? [] : ['npm ci', 'npm run build:author']) {
        if (finished.has(`checkout ${needed}`)) continue
        await run(needed, root, { place: 'checkout' })
        times.end(needed)
        note(needed, 'checkout')
      }
      const key = `${one.place} ${one.file}`
      const folder = folders.get(key) ?? directories[one.place]()
      if (one.fileName !== undefined) {
        mkdirSync(dirname(join(folder, one.fileName)), { recursive: true })
        writeFileSync(join(folder, one.fileName), one.text)
        continue
      }
      const changed = /^cd (\S+)$/.exec(one.command)
      if (changed) {
        folders.set(key, join(folder, changed[1]))
        continue
      }
      // Elsewhere than in the checkout a command is another one each time.
      const command = removeFinishedPreparation(one, finished)
      const parts = isHere ? splitCompositeCommand(command, scripts) : [command]
      const isExcluded = (command) =>
        except.some((excluded) => command === excluded || command.endsWith(`&& ${excluded}`))
      // In a catalog repository, the same command has another result after another change.
      const wanted = parts.filter(
        (command) => one.place === 'catalog' || !finished.has(`${one.place} ${command}`),
      )
      const now = wanted.filter((command) => !isExcluded(command))
      counts.before += parts.length - wanted.length
      counts.later += wanted.length - now.length
      // Static checks are independent of each other. Tests use all processors.
      const parallel = parts.length > 1 ? now.filter((command) => command !== 'npm test') : []
      const ended = await runInParallel(
        parallel.map((name) => ({ name, program: 'bash', args: ['-euo', 'pipefail', '-c', name] })),
        { onEnd: ({ name, seconds }) => times.add(name, seconds) },
      )
      for (const { name, status, signal } of ended)
        if (status === 0) note(name)
        else throw new Error(`${name} exited with ${signal ?? status}`)
      for (const command of now.filter((one) => !parallel.includes(one))) {
        console.log(`\n-- ${where}: ${command}`)
        await run(command, folder, { ...one, program: isHere ? undefined : directories[one.place]() })
        times.end(command.split('\n')[0])
        note(command)
      }
    }
    const notRun =
      counts.notRun.length === 0 ? '' : `; ${counts.notRun.length} not run: ${counts.notRun.join(', ')}`
    const others = [
      counts.before && `${counts.before} already run`,
      counts.later && `${counts.later} postponed`,
    ]
    console.log(`\n${times.table()}`)
    console.log(
      `\ndocumented commands: ${[`${counts.run} run`, ...others.filter(Boolean)].join(', ')}${notRun}`,
    )
    return 0
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** Runs a command in the shell and shows its output. Throws if it fails or does not print the expected text. */
function run(command, cwd, { place, program, until, prints, statuses = [0] }) {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-euo', 'pipefail', '-c', command], {
      cwd,
      ...(place === 'catalog' && { env: environmentIn(program ?? cwd) }),
      detached: true,
      // Output that is only shown bypasses this process, because a run of all tests prints more than a pipe can buffer.
      stdio:
        until === undefined && prints === undefined
          ? ['ignore', 'inherit', 'inherit']
          : ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    let isEnough = false
    const end = () => {
      try {
        process.kill(-child.pid, 'SIGTERM')
      } catch {
        // It has already exited.
      }
    }
    // A hanging command fails before the time limit of the whole run, so that the error names it.
    const timer = setTimeout(end, until === undefined ? 60 * 60_000 : 120_000)
    const listen = (stream) => (data) => {
      stream.write(data)
      if (isEnough) return
      output = (output + data).slice(-100_000)
      isEnough = until !== undefined && output.includes(until)
      if (isEnough) end()
    }
    child.stdout?.on('data', listen(process.stdout))
    child.stderr?.on('data', listen(process.stderr))
    child.once('error', reject)
    child.once('close', (status, signal) => {
      clearTimeout(timer)
      const missing =
        status !== null && prints !== undefined ? findMissingOutputLine(prints, output) : undefined
      if (missing !== undefined)
        reject(new Error(`${command} did not print the line "${missing}" of the page`))
      else if (until !== undefined ? isEnough : statuses.includes(status)) resolve()
      else if (until !== undefined) reject(new Error(`${command} did not print "${until}"`))
      else reject(new Error(`${command} exited with ${signal ?? status}`))
    })
  })
}

/** The first documented line that is not in the output, or undefined. A line "…" stands for any lines. @param {string[]} lines */
export function findMissingOutputLine(lines, output) {
  const printed = output.split('\n').map((line) => line.trim())
  let at = 0
  let mayJump = true
  for (const line of lines.filter((one) => one !== '')) {
    while (printed[at] === '') at++
    if (line === '…') {
      mayJump = true
      continue
    }
    const found = printed.indexOf(line, at)
    if (found === -1 || (!mayJump && found !== at)) return line
    at = found + 1
    mayJump = false
  }
  return undefined
}

/** Like npx, prefers programs that are installed in the folder. */
function environmentIn(folder) {
  const author = { NAME: 'An Author', EMAIL: 'author@example.invalid' }
  const names = ['AUTHOR', 'COMMITTER'].flatMap((role) =>
    Object.entries(author).map(([part, value]) => [`GIT_${role}_${part}`, value]),
  )
  return {
    ...process.env,
    ...Object.fromEntries(names),
    PATH: [join(folder, 'node_modules/.bin'), join(root, 'node_modules/node/bin'), process.env.PATH].join(
      delimiter,
    ),
  }
}

/** The directories where commands run, made when they are first needed. */
function createDirectories(scratch) {
  const made = new Map()
  const once = (name, make) => () => {
    if (!made.has(name)) made.set(name, make(join(scratch, name)))
    return made.get(name)
  }
  return {
    checkout: () => root,
    copy: once('copy', copyOfCheckout),
    catalog: once('catalog', catalogRepository),
  }
}

/** With the packages that `npm ci` installed, because installing them once more takes ten times as long as copying them. */
function copyOfCheckout(folder) {
  const isCopied = (path) =>
    !['.git', 'node_modules', 'dist', 'dist-author', 'data'].includes(relative(root, path).split('/')[0])
  cpSync(root, folder, { recursive: true, filter: isCopied })
  const copyPackages = 'tar -c --exclude=node_modules/.cache node_modules | tar -x -C "$0"'
  execFileSync('bash', ['-o', 'pipefail', '-c', copyPackages, folder], { cwd: root })
  return folder
}

/** A repository with the catalog, template, and branch in the pages' commands, and with the package, as npm installs it. */
function catalogRepository(folder) {
  const git = (...args) => execFileSync('git', args, { cwd: folder, stdio: 'ignore' })
  const write = (path, text) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  mkdirSync(folder)
  const npm = (...args) => execFileSync('npm', args, { cwd: folder, encoding: 'utf8' })
  const packed = npm('pack', '--silent', join(root, 'dist-author')).trim()
  write('package.json', '{ "private": true }\n')
  npm('install', '--no-audit', '--no-fund', '--loglevel=error', `./${packed}`)
  git('init', '--quiet', '--initial-branch=main')
  git('config', 'user.name', 'An Author')
  git('config', 'user.email', 'author@example.invalid')
  // The author's login on GitHub, which authors set once for all of their repositories.
  git('config', 'github.user', 'alice')
  write('.gitignore', 'example.mjs\nnode_modules\n*.tgz\npackage*.json\npictures\n')
  write('.github/catalog-bot.yml', 'rules:\n  image-by-tag: off\n')
  write('catalogs/v4.20/cat/catalog.yaml', catalogOf(['1.0.0']))
  // Without its bundles, which would be pulled from a registry.
  write('template.yaml', `schema: olm.template.basic\nentries:\n${indented(catalogOf(['1.0.0']).replace(/---\nschema: olm\.bundle[^]*/, ''))}`) // prettier-ignore
  git('add', '.')
  git('commit', '--quiet', '--message', 'A catalog')
  git('checkout', '--quiet', '-b', 'update')
  write('catalogs/v4.20/cat/catalog.yaml', catalogOf(['1.0.0', '1.1.0']))
  git('commit', '--quiet', '--all', '--message', 'cat 1.1.0')
  return folder
}

function catalogOf(versions) {
  const entries = versions.map(
    (version, at) => `  - name: cat.v${version}\n${at > 0 ? `    replaces: cat.v${versions[at - 1]}\n` : ''}`,
  )
  const bundles = versions.map(
    (version) => `---
schema: olm.bundle
package: cat
name: cat.v${version}
image: quay.io/cats/cat-bundle@sha256:${version.replaceAll('.', '').padStart(64, 'a')}
properties:
  - type: olm.package
    value: {packageName: cat, version: ${version}}
`,
  )
  return `---\nschema: olm.package\nname: cat\ndefaultChannel: stable\n---\nschema: olm.channel\npackage: cat\nname: stable\nentries:\n${entries.join('')}${bundles.join('')}`
}

/** Documents as the entries of a list. */
function indented(text) {
  return text
    .split(/^---\n/m)
    .filter(Boolean)
    .map((document) => document.replace(/^(?=.)/gm, '    ').replace('    ', '  - '))
    .join('')
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  process.exitCode = await main(process.argv.slice(2)).catch((error) => {
    console.error(`\n${error.message}`)
    return 1
  })
