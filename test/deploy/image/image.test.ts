// Runs the container image that .ci/build-image wrote to IMAGE_LAYOUT, from the setup page to a merged pull request.
import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openDemoStory } from '../../../sandbox/demo/stories.ts'
import {
  demoRepositoryName,
  startDemoEnvironment,
  type DemoEnvironment,
} from '../../../sandbox/demo/demo-environment.ts'
import { waitUntil } from '../../stories/story-environment.ts'
import { reportSkippedTest } from '../../left-out.ts'
import {
  createImageTestDirectory,
  describeIfImageAvailable,
  readImageLayout,
  type ImageLayout,
} from './image-layout.ts'
import { listImageTags, startContainer, unpackImage, type RunningContainer } from './run-container.ts'
import { createAppFromSetupPage, installGitHubApp } from './walk-setup.ts'

const projectRoot = join(import.meta.dirname, '../../..')
const maxCompressedImageBytes = 200_000_000
const setupUrlPattern = /http:\/\/localhost:\d+\/setup\?word=\S+/
const readProjectVersion = () =>
  (JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as { readonly version: string })
    .version
const formatMegabytes = (bytes: number) => `${(bytes / 1_000_000).toFixed(1)} MB`

describeIfImageAvailable(['umoci', 'runc'])('the container image', () => {
  let directory: string
  let image: ImageLayout
  let bundle: string
  let demo: DemoEnvironment
  let container: RunningContainer

  const findLine = async (pattern: RegExp): Promise<string> => {
    const find = () => container.lines.map((line) => pattern.exec(line)?.[0]).find((match) => match)
    await waitUntil(`the container prints ${pattern.source}`, () => find() !== undefined, 60, container.lines)
    return find() ?? ''
  }

  beforeAll(async () => {
    directory = createImageTestDirectory()
    image = readImageLayout()
    bundle = unpackImage(image.path, join(directory, 'bundle'))
    demo = await startDemoEnvironment({ directory })
    // The App that the setup page creates takes its place.
    demo.github.uninstall(demo.github.installationOn(demoRepositoryName))
    container = startContainer({
      bundle,
      data: join(directory, 'data'),
      environment: {
        SETUP: '1',
        PORT: '0',
        SWEEP_SECONDS: '2',
        GITHUB_URL: demo.github.url,
        GITHUB_API_URL: demo.github.url,
        GITHUB_THROTTLE: 'off',
        INSECURE_REGISTRIES: demo.registry.host,
      },
    })
  })
  afterAll(async () => {
    await container?.stop('KILL')
    await demo?.stop()
    rmSync(directory, { recursive: true, force: true })
  })

  test('has at most 200 MB to pull', () => {
    const compressedBytes = image.layers.reduce((sum, { size }) => sum + size, 0)
    const unpackedBytes = Number(
      execFileSync('du', ['-sbx', join(bundle, 'rootfs')], { encoding: 'utf8' }).split('\t')[0],
    )
    console.log(
      `image: ${formatMegabytes(compressedBytes)} to pull, ${formatMegabytes(unpackedBytes)} unpacked`,
    )
    expect(compressedBytes).toBeLessThanOrEqual(maxCompressedImageBytes)
  })

  test('has the labels that registries show', () => {
    const { version, license, description } = JSON.parse(
      readFileSync(join(projectRoot, 'package.json'), 'utf8'),
    ) as Record<string, string>
    const { 'org.opencontainers.image.revision': revision, ...labels } = image.config.config.Labels
    expect(revision).toMatch(/^[0-9a-f]{40}$/)
    expect(labels).toMatchObject({
      'org.opencontainers.image.title': 'catalog-bot',
      'org.opencontainers.image.description': description,
      'org.opencontainers.image.source': '',
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.licenses': license,
    })
  })

  test('has certificate authorities for Git', () => {
    const file = join(bundle, 'rootfs/etc/ssl/certs/ca-certificates.crt')
    expect(readFileSync(file, 'utf8').match(/^-----BEGIN CERTIFICATE-----$/gm)?.length).toBeGreaterThan(100)
  })

  test('runs on arm64, here emulated', () => {
    const tag = listImageTags(image.path).find((name) => name.endsWith('arm64'))
    if (tag === undefined) return reportSkippedTest('the image for arm64')
    const root = join(unpackImage(image.path, join(directory, 'arm64'), tag), 'rootfs')
    const run = (...command: readonly string[]) =>
      execFileSync('chroot', ['--userspec=1000:1000', root, ...command], { encoding: 'utf8' }).trim()
    expect(run('node', '--print', 'process.arch')).toBe('arm64')
    expect(run('catalog-bot', '--version')).toBe(readProjectVersion())
  })

  test('starts with the setup page, is ready, and keeps the setup page secret', async () => {
    const setupUrl = await findLine(setupUrlPattern)
    for (const path of ['/livez', '/readyz', '/healthz'])
      expect({ path, status: (await fetch(new URL(path, setupUrl))).status }).toEqual({ path, status: 200 })
    expect((await fetch(new URL('/setup', setupUrl))).status).toBe(404)
    expect(await (await fetch(setupUrl)).text()).toContain('Create the GitHub App')
  })

  test('passes the health check of the Dockerfile while it waits for setup', async () => {
    const dockerfile = readFileSync(join(projectRoot, 'Dockerfile'), 'utf8')
    const [, command = ''] = /^HEALTHCHECK[^[]*CMD (\[.*\])$/m.exec(dockerfile) ?? []
    const { port } = new URL(await findLine(setupUrlPattern))
    const check = await container.execute('env', `PORT=${port}`, ...(JSON.parse(command) as string[]))
    expect(check).toEqual({ output: '', exitCode: 0 })
  })

  test('does not run as root, has no capabilities, and cannot write outside /data and /tmp', async () => {
    const processIds = container.processIds()
    expect(processIds.length).toBeGreaterThan(1)
    for (const pid of processIds) {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      expect(status).toMatch(/^Uid:\t1000\t1000\t1000\t1000$/m)
      expect(status).toMatch(/^CapBnd:\t0+$/m)
    }
    expect(
      await container.execute('touch', '/app/file', '/home/node/file', '/data/file', '/tmp/file'),
    ).toEqual({
      output: expect.stringMatching(/^touch: .*\/app\/file.*\ntouch: .*\/home\/node\/file.*\n$/),
      exitCode: 1,
    })
  })

  test('has the command catalog-bot with the complete rule pages', async () => {
    const version = `${readProjectVersion()}\n`
    expect(await container.execute('catalog-bot', '--version')).toEqual({ output: version, exitCode: 0 })
    const { output, exitCode } = await container.execute('catalog-bot', 'rule', 'several-heads')
    expect(exitCode).toBe(0)
    for (const line of ['# several-heads', '## Example: fork', 'opm reports:'])
      expect(output).toContain(`${line}\n`)
    expect(await container.execute('catalog-bot', 'demo')).toEqual({
      output:
        'catalog-bot: the demo runs only from a checkout of catalog-bot, which this installation is not\n',
      exitCode: 2,
    })
  })

  test('creates the App, and checks and merges a pull request', async () => {
    const started = performance.now()
    const setupUrl = await findLine(setupUrlPattern)
    expect(await createAppFromSetupPage(setupUrl, 'coast')).toContain('App created')
    const credentials = statSync(join(directory, 'data/credentials.env'))
    expect({ mode: credentials.mode & 0o777, owner: credentials.uid }).toEqual({ mode: 0o600, owner: 1000 })
    await installGitHubApp(await findLine(/http:\S+\/installations\/new/), 'operators')
    const { pull } = await openDemoStory(demo, 'good update')
    await waitUntil('the pull request is merged', () => pull.merged !== null, 90, container.lines)
    expect(demo.github.checkRuns(pull).map(({ name, conclusion }) => `${name}: ${conclusion}`)).toContain(
      'catalog-bot / validation: success',
    )
    console.log(`from the setup page to the merge: ${Math.round(performance.now() - started)} ms`)
  })

  test('runs doctor and lists freezes next to the running App', async () => {
    const doctor = await container.execute('catalog-bot', 'doctor', demoRepositoryName)
    expect(doctor.output).toContain('the App has every permission in app.yml')
    const landings = await container.execute('catalog-bot', 'landings', '--repository', demoRepositoryName)
    expect(landings).toEqual({ output: expect.any(String), exitCode: 0 })
  })

  test('ends within five seconds after SIGTERM', async () => {
    const started = performance.now()
    expect(await container.stop('TERM')).toBe(0)
    const milliseconds = Math.round(performance.now() - started)
    console.log(`SIGTERM: ${milliseconds} ms`)
    expect(milliseconds).toBeLessThan(5000)
  })
})
