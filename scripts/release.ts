// Makes every artifact of a release from the committed tree and the packages that `npm ci` installed, verifies each as its users
// would, and writes them to dist-release/ (docs/dev/releasing.md). Publishes nothing. Usage: npm run release --
// --repository OWNER/NAME | --dry-run
// With RELEASE_KEY, the PEM of a private key, the files and the image are also signed with it. A dry run makes a key, and pushes the
// image and the chart to a registry on this machine.
import { spawn } from 'node:child_process'
import { createHash, createPublicKey, generateKeyPairSync, randomUUID } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import type { ReleaseArtifactLocations } from '../src/adapters/package-metadata.ts'
import { createSignedEnvelope } from '../src/adapters/image/provenance/signature-formats.ts'
import { parseSigningKeyPem } from '../src/adapters/image/provenance/signing-key.ts'
import { createPublishedPackageFields } from './build/author-package.ts'
import { externalPackages } from './build/split-modules.ts'
import { extractReleaseNotes } from './release-notes.ts'
import { startRealRegistry } from '../test/adapters/registry/real-registry.ts'
import { isOnPath } from '../test/is-on-path.ts'

const projectRoot = join(import.meta.dirname, '..')
const outputDirectory = join(projectRoot, 'dist-release')
const nodeVersions = ['22', '24']
const architectures = ['amd64', 'arm64']

interface Release {
  readonly version: string
  readonly commit: string
  readonly distribution: ReleaseArtifactLocations
  /** A clone at the released commit, in which the names of the release are filled in. */
  readonly stage: string
}

const releaseStartMs = performance.now()
function reportStep(text: string): void {
  console.log(`${((performance.now() - releaseStartMs) / 1000).toFixed(0).padStart(4)} s  ${text}`)
}

const { values: options } = parseArgs({
  options: { repository: { type: 'string' }, 'dry-run': { type: 'boolean', default: false } },
})
const releaseRepository = options.repository ?? (options['dry-run'] ? 'example/catalog-bot' : undefined)
if (releaseRepository === undefined || !/^[\w.-]+\/[\w.-]+$/.test(releaseRepository)) {
  console.error('usage: npm run release -- --repository OWNER/NAME | --dry-run')
  process.exit(2)
}
const workFolder = mkdtempSync(join(tmpdir(), 'release-'))
try {
  await makeRelease(releaseRepository)
} finally {
  rmSync(workFolder, { recursive: true, force: true })
}

async function makeRelease(name: string): Promise<void> {
  rmSync(outputDirectory, { recursive: true, force: true })
  for (const folder of ['npm', 'chart', 'files'])
    mkdirSync(join(outputDirectory, folder), { recursive: true })
  const release = await stageRelease(name)
  // In parallel, because package managers and emulation use one processor each.
  await awaitAll([makeImages(release), makeOtherArtifacts(release)])
  await makeSboms(release)
  const key = options['dry-run'] ? generateReleaseKey() : process.env['RELEASE_KEY']
  await signFiles(release, key)
  await verifyActionBundle(release)
  if (options['dry-run'] && key !== undefined) await verifyImageAndChart(release, key)
  reportStep(`${basename(outputDirectory)} has everything of ${release.version}`)
}

// --- making ---

async function stageRelease(name: string): Promise<Release> {
  const stage = join(workFolder, 'stage')
  await runExternalProgram('git', ['clone', '--quiet', '--no-local', projectRoot, stage])
  const commit = await runExternalProgram('git', ['rev-parse', 'HEAD'], { cwd: stage })
  const packageFile = join(stage, 'package.json')
  const { private: _, ...metadata } = JSON.parse(readFileSync(packageFile, 'utf8')) as {
    readonly version: string
    readonly private: boolean
  }
  const { version } = metadata
  // Fails if the changelog has no section for the version.
  extractReleaseNotes(readFileSync(join(stage, 'CHANGELOG.md'), 'utf8'), version)
  const distribution = getArtifactLocations(name, version)
  writeJson(packageFile, {
    ...metadata,
    ...createPublishedPackageFields(distribution.appPackage, distribution),
  })
  writeJson(join(outputDirectory, 'distribution.json'), distribution)
  insertArtifactNames(stage, version, distribution)
  // Installing the packages once more would take a tenth of the time of a release. Tests may be writing to the cache.
  const copyPackages = 'tar -c --exclude=node_modules/.cache node_modules | tar -x -C "$0"'
  await runExternalProgram('bash', ['-o', 'pipefail', '-c', copyPackages, stage])
  await runExternalProgram('node', ['scripts/reference-pages.ts'], { cwd: stage })
  await runExternalProgram('git', ['-c', 'user.name=release', '-c', 'user.email=release@invalid', 'commit', '--quiet', '--all', '-m', 'Names of the release'], { cwd: stage }) // prettier-ignore
  reportStep(`staged version ${version} from commit ${commit.slice(0, 12)} for ${name}`)
  return { version, commit, distribution, stage }
}

function getArtifactLocations(name: string, version: string): ReleaseArtifactLocations {
  const [owner = '', project = ''] = name.toLowerCase().split('/')
  return {
    repository: name,
    package: `@${owner}/catalog-bot-cli`,
    appPackage: `@${owner}/catalog-bot`,
    image: `ghcr.io/${owner}/catalog-bot`,
    chart: `oci://ghcr.io/${owner}/charts/catalog-bot`,
    action: `${name}@v${version}`,
    site: `https://${owner}.github.io/${project}/`,
  }
}

/** Replaces the ways that work from a checkout with those of the release. */
function insertArtifactNames(
  stage: string,
  version: string,
  { repository: name, package: authorPackage, image }: ReleaseArtifactLocations,
): void {
  editFile(join(stage, 'README.md'), (text) =>
    text.replace(/<!-- released: (.*) -->[\s\S]*?```sh\n[\s\S]*?```/, (_all, command: string) =>
      `\`\`\`sh\n${command.replace('PACKAGE', authorPackage)}\n\`\`\``).replace('Clone this project, and install the command from the clone.', 'Install the command.'),
  ) // prettier-ignore
  editFile(join(stage, 'deploy/chart/values.yaml'), (text) =>
    text.replace(/^( {2}repository:) ''$/m, `$1 ${image}`),
  )
  editFile(join(stage, 'deploy/chart/Chart.yaml'), (text) =>
    text
      .replace(/^(version|appVersion):.*$/gm, `$1: ${version}`)
      .concat(`home: https://github.com/${name}\nsources:\n  - https://github.com/${name}\n`),
  )
  editFile(join(stage, 'deploy/compose.yaml'), (text) =>
    text.replace(/^ +build: \.\.\n/m, '').replace(/^( +image:) .*$/m, `$1 ${image}:${version}`),
  )
}

/** Throws if the edit changes nothing, because then the file no longer contains what is to be replaced. */
function editFile(file: string, edit: (text: string) => string): void {
  const text = readFileSync(file, 'utf8')
  const edited = edit(text)
  if (edited === text) throw new Error(`${file} does not contain the text that a release replaces`)
  writeFileSync(file, edited)
}

async function makeOtherArtifacts(release: Release): Promise<void> {
  await packNpmPackages(release)
  await awaitAll([
    makeActionBundle(release),
    packChart(release),
    buildSite(release).then(() => verifyNpmPackages(release)),
  ])
}

async function packNpmPackages({ stage }: Release): Promise<void> {
  const destination = join(outputDirectory, 'npm')
  const packageFile = join(stage, 'package.json')
  const text = readFileSync(packageFile, 'utf8')
  const { dependencies, ...metadata } = JSON.parse(text) as { dependencies: Record<string, string> }
  const installed = Object.fromEntries(externalPackages.map((name) => [name, dependencies[name]]))
  writeJson(packageFile, { ...metadata, dependencies: installed })
  await runExternalProgram('npm', ['pack', '--silent', '--pack-destination', destination], { cwd: stage })
  writeFileSync(packageFile, text)
  await runExternalProgram('node', ['scripts/build-author-package.ts', 'dist-author'], { cwd: stage })
  await runExternalProgram('npm', ['pack', '--silent', '--pack-destination', destination, './dist-author'], {
    cwd: stage,
  })
  reportStep('npm packages')
}

/** The package for authors next to `action.yml`, so that the action installs nothing when it runs. */
async function makeActionBundle({ stage, version }: Release): Promise<void> {
  cpSync(join(stage, 'action.yml'), join(stage, 'dist-author', 'action.yml'))
  const bundle = join(outputDirectory, 'files', `catalog-bot-action-${version}.tar.gz`)
  const reproducible = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0']
  await runExternalProgram('tar', [...reproducible, '-czf', bundle, '-C', join(stage, 'dist-author'), '.'])
}

async function packChart({ stage }: Release): Promise<void> {
  await helm('lint', '--quiet', join(stage, 'deploy/chart'))
  await helm('package', join(stage, 'deploy/chart'), '--destination', join(outputDirectory, 'chart'))
  cpSync(join(stage, 'deploy/compose.yaml'), join(outputDirectory, 'files', 'compose.yaml'))
  cpSync(join(stage, 'deploy/compose.postgres.yaml'), join(outputDirectory, 'files', 'compose.postgres.yaml'))
  reportStep('chart, Compose files, action')
}

async function buildSite({ stage, distribution }: Release): Promise<void> {
  await runExternalProgram('npm', ['run', '--silent', 'site'], { cwd: stage })
  const site = join(outputDirectory, 'site')
  cpSync(join(stage, 'site/.vitepress/dist'), site, { recursive: true })
  requireTextInFile(join(site, 'index.html'), new URL(distribution.site).pathname)
  reportStep('site')
}

async function makeImages(release: Release): Promise<void> {
  await runExternalProgram(join(release.stage, '.ci/build-image'), [outputDirectory, ...architectures], {
    env: { REVISION: release.commit },
  })
  tagImages(release.version)
  reportStep('container image')
}

/** Lists the npm packages in the App's package and image, and the Debian packages in the image of each architecture. */
async function makeSboms({ stage, version }: Release): Promise<void> {
  const text = await runExternalProgram('npm', ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev'], {
    cwd: stage,
  })
  if (!text.includes('pkg:npm/probot@')) throw new Error('the SBOM does not list the dependencies')
  writeFileSync(join(outputDirectory, 'files', `catalog-bot-${version}.cdx.json`), text)
  const sbom = JSON.parse(text) as { readonly components: readonly object[] }
  for (const architecture of architectures) {
    const list = join(outputDirectory, `debian-packages-${architecture}.tsv`)
    const packages = readFileSync(list, 'utf8').trim().split('\n').map(toDebianComponent)
    rmSync(list)
    if (!packages.some(({ name }) => name === 'git'))
      throw new Error('the SBOM does not list Debian packages')
    writeJson(join(outputDirectory, 'files', `catalog-bot-image-${version}-${architecture}.cdx.json`), {
      ...sbom,
      serialNumber: `urn:uuid:${randomUUID()}`,
      components: [...sbom.components, ...packages],
    })
  }
}

/** https://github.com/package-url/purl-spec/blob/main/types-doc/deb-definition.md */
function toDebianComponent(line: string): { readonly type: 'library'; readonly name: string } {
  const [name = '', version = '', architecture = ''] = line.split('\t')
  const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}&distro=debian-12`
  return { type: 'library', name, ...{ 'bom-ref': purl, version, purl } }
}

interface OciDescriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
  readonly annotations?: Readonly<Record<string, string>>
}

/**
 * Joins the images of a layout in an index. The workflow pushes each manifest of the layout under the tag that names it: one for each
 * platform, the version, and for a pre-release `next` instead of `latest`.
 */
function tagImages(version: string): void {
  const layout = join(outputDirectory, 'image')
  const { manifests } = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8')) as {
    readonly manifests: readonly OciDescriptor[]
  }
  const platforms = manifests.map(({ mediaType, digest, size }, index) => ({
    mediaType,
    digest,
    size,
    platform: { os: 'linux', architecture: architectures[index] },
  }))
  const mediaType = 'application/vnd.oci.image.index.v1+json'
  const index = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType, manifests: platforms }))
  const sha256 = createHash('sha256').update(index).digest('hex')
  writeFileSync(join(layout, 'blobs', 'sha256', sha256), index)
  const joined = { mediaType, digest: `sha256:${sha256}`, size: index.length }
  const name = (descriptor: OciDescriptor, tag: string) => ({
    ...descriptor,
    annotations: { 'org.opencontainers.image.ref.name': tag },
  })
  writeJson(join(layout, 'index.json'), {
    schemaVersion: 2,
    manifests: [
      ...manifests.map((manifest, at) => name(manifest, `${version}-${architectures[at]}`)),
      name(joined, version),
      name(joined, version.includes('-') ? 'next' : 'latest'),
    ],
  })
}

// --- signing ---

function generateReleaseKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** Writes checksums and SLSA provenance of all files, and with a key their signatures, in the formats of cosign. */
async function signFiles({ commit, distribution }: Release, key: string | undefined): Promise<void> {
  const files = join(outputDirectory, 'files')
  for (const folder of ['npm', 'chart'])
    for (const name of readdirSync(join(outputDirectory, folder)))
      cpSync(join(outputDirectory, folder, name), join(files, name))
  const digests = readdirSync(files)
    .sort()
    .map((name) => ({
      name,
      sha256: createHash('sha256')
        .update(readFileSync(join(files, name)))
        .digest('hex'),
    }))
  const checksums = digests.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join('')
  writeFileSync(join(files, 'SHA256SUMS'), checksums)
  if (key === undefined) return
  const signingKey = await parseSigningKeyPem(key)
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: digests.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: `https://github.com/${distribution.repository}/blob/${commit}/scripts/release.ts`,
        externalParameters: { repository: distribution.repository },
        resolvedDependencies: [
          { uri: `git+https://github.com/${distribution.repository}`, digest: { gitCommit: commit } },
        ],
      },
      runDetails: {
        builder: {
          id: `https://github.com/${distribution.repository}/blob/${commit}/.github/workflows/release.yml`,
        },
      },
    },
  }
  writeFileSync(
    join(files, 'provenance.intoto.json'),
    createSignedEnvelope(Buffer.from(JSON.stringify(statement)), signingKey),
  )
  writeFileSync(
    join(files, 'SHA256SUMS.sig'),
    Buffer.from(signingKey.sign(Buffer.from(checksums))).toString('base64'),
  )
  writeFileSync(join(files, 'cosign.pub'), createPublicKey(key).export({ type: 'spki', format: 'pem' }))
  const blob = ['--key', join(files, 'cosign.pub'), '--insecure-ignore-tlog']
  const [first] = digests
  if (!isOnPath('cosign') || first === undefined)
    return reportStep('signed; NOT VERIFIED by cosign, which is not on the PATH')
  const sums = join(files, 'SHA256SUMS')
  await cosign('verify-blob', ...blob, '--signature', `${sums}.sig`, sums)
  const signature = ['--type', 'slsaprovenance1', '--signature', join(files, 'provenance.intoto.json')]
  await cosign('verify-blob-attestation', ...blob, ...signature, join(files, first.name))
  reportStep('signed, and verified by cosign')
}

// --- verifying ---

/** Installs each package in an empty folder with each supported version of Node.js, and runs the authors' one on examples. */
async function verifyNpmPackages(release: Release): Promise<void> {
  const folder = join(outputDirectory, 'npm')
  const tarballs = readdirSync(folder)
  for (const version of nodeVersions) {
    const node = mkdtempSync(join(workFolder, 'node-'))
    await installNpmPackage(node, `node@${version}`)
    await awaitAll(tarballs.map((tarball) => verifyNpmPackage(release, tarball, node)))
    reportStep(`npm packages work with Node.js ${version}`)
  }
  const authorPackage = tarballs.find((tarball) => tarball.includes('-cli-')) ?? ''
  await runExternalProgram(join(release.stage, '.ci/try-author-package'), [join(folder, authorPackage)])
  reportStep('the package for authors works on examples')
}

/** `node` is the folder in which npm installed Node.js. */
async function verifyNpmPackage({ version, stage }: Release, tarball: string, node: string): Promise<void> {
  const folder = mkdtempSync(join(workFolder, 'install-'))
  const file = join(outputDirectory, 'npm', tarball)
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  const env = { PATH: `${join(node, 'node_modules/.bin')}:${process.env['PATH']}` }
  await installNpmPackage(folder, file, env)
  const bot = (...args: string[]) =>
    runExternalProgram(join(folder, 'node_modules/.bin/catalog-bot'), args, { cwd: stage, env })
  if ((await bot('--version')) !== version) throw new Error(`${tarball} does not print its version`)
  await bot('validate', 'fixtures/demo/repository/catalogs/v4.20')
  if ((await bot('rule', 'several-heads')).split('\n').length < 10)
    throw new Error(`${tarball} lacks the pages of rules`)
}

function installNpmPackage(folder: string, name: string, env = {}): Promise<string> {
  const options = ['--no-audit', '--no-fund', '--silent', '--prefix', folder]
  return runExternalProgram('npm', ['install', ...options, name], { env })
}

async function verifyActionBundle({ version }: Release): Promise<void> {
  const folder = mkdtempSync(join(workFolder, 'action-'))
  const bundle = join(outputDirectory, 'files', `catalog-bot-action-${version}.tar.gz`)
  await runExternalProgram('tar', ['-xzf', bundle, '-C', folder])
  if (!existsSync(join(folder, 'action.yml'))) throw new Error('the bundle has no action.yml')
  const printed = await runExternalProgram(join(folder, 'bin/catalog-bot.cjs'), ['--version'], {
    env: { PATH: `${join(projectRoot, 'node_modules/.bin')}:${process.env['PATH']}` },
  })
  if (printed !== version) throw new Error("the action's bundle does not run")
}

/** Pushes the image and the chart to a registry, signs the image there, and verifies both as a user would. */
async function verifyImageAndChart({ version, stage }: Release, key: string): Promise<void> {
  const registry = await startRealRegistry()
  const { host } = registry
  try {
    const image = `${host}/catalog-bot:${version}`
    await runExternalProgram('skopeo', ['copy', '--quiet', '--all', '--preserve-digests', '--dest-tls-verify=false', `oci:${join(outputDirectory, 'image')}:${version}`, `docker://${image}`]) // prettier-ignore
    const keyFile = join(workFolder, 'release.key')
    writeFileSync(keyFile, key, { mode: 0o600 })
    const publicKey = join(outputDirectory, 'files', 'cosign.pub')
    const bot = (...args: string[]) =>
      runExternalProgram('node', ['bin/catalog-bot.cjs', ...args], { cwd: stage })
    await bot('sign', image, '--key', keyFile, '--insecure-registry', host)
    await bot('verify', image, '--key', publicKey, '--insecure-registry', host)
    if (isOnPath('cosign'))
      await cosign('verify', '--key', publicKey, '--insecure-ignore-tlog', '--allow-http-registry', image)
    const [chart = ''] = readdirSync(join(outputDirectory, 'chart'))
    const charts = `oci://${host}/charts`
    await helm('push', join(outputDirectory, 'chart', chart), charts, '--plain-http')
    const settings = ['--version', version, '--plain-http', '--kube-version', '1.30.0']
    const manifest = await helm('template', 'bot', `${charts}/catalog-bot`, ...settings)
    if (!manifest.includes(`/catalog-bot:${version}`))
      throw new Error("the chart does not use this version's image")
    reportStep('image and chart in a registry: signed, verified, rendered')
  } finally {
    await registry.close()
  }
}

// --- helpers ---

interface ExternalProgramOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

/** Returns the trimmed output. Throws if the program fails. Its errors go to the terminal. */
async function runExternalProgram(
  program: string,
  args: readonly string[],
  { cwd = projectRoot, env }: ExternalProgramOptions = {},
): Promise<string> {
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const closed = once(child, 'close') as Promise<[number | null]>
  const [output, [status]] = await Promise.all([readText(child.stdout), closed])
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} exited with ${status}`)
  return output.trim()
}

function helm(...args: readonly string[]): Promise<string> {
  return runExternalProgram('helm', args)
}

function cosign(...args: readonly string[]): Promise<string> {
  return runExternalProgram('cosign', args)
}

/** Throws the first error when all have ended, so that no program continues after the release has failed. */
async function awaitAll(steps: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(steps)
  await Promise.all(steps)
}

function writeJson(file: string, value: unknown): void {
  writeFileSync(file, `${JSON.stringify(value, undefined, 2)}\n`)
}

function requireTextInFile(file: string, text: string): void {
  if (!readFileSync(file, 'utf8').includes(text)) throw new Error(`${file} does not contain ${text}`)
}
