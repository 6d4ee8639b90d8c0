// The Compose files. .ci/chart additionally loads them with the parser of Docker Compose.
import { describe, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

interface ComposeService {
  readonly environment: Readonly<Record<string, string | null>>
  readonly env_file?: readonly { readonly path: string; readonly required: boolean }[]
  readonly ports?: readonly string[]
  readonly volumes: readonly string[]
  readonly stop_grace_period: string
}

interface ComposeFile {
  readonly services: { readonly bot: ComposeService; readonly database?: ComposeService }
  readonly volumes: Readonly<Record<string, null>>
}

const deployDirectory = join(import.meta.dirname, '../../deploy')
const readComposeFile = (name: string) =>
  parse(readFileSync(join(deployDirectory, name), 'utf8')) as ComposeFile

describe('compose.yaml', () => {
  const { services, volumes } = readComposeFile('compose.yaml')
  const { bot } = services

  test('runs catalog-bot read-only without capabilities, and stops it in time', () => {
    expect(bot).toMatchObject({ read_only: true, cap_drop: ['ALL'], restart: 'unless-stopped' })
    expect(parseInt(bot.stop_grace_period, 10)).toBeGreaterThan(Number(bot.environment['STOP_SECONDS']))
  })

  test('starts with the setup page without any variable, and keeps its data in one named volume', () => {
    expect(Object.keys(services)).toEqual(['bot'])
    expect(JSON.stringify(services)).not.toMatch(/\$\{\w+:?\?/)
    expect(bot.environment).toMatchObject({ SETUP: '${SETUP:-1}', HOST: '0.0.0.0', DATA_DIR: '/data' })
    expect(bot.volumes).toEqual(['data:/data'])
    expect(Object.keys(volumes)).toEqual(['data'])
  })

  test('takes credentials and settings from the environment and from an optional file, and contains no secret', () => {
    expect(bot.env_file).toEqual([{ path: '.env', required: false }])
    for (const name of [
      'APP_ID',
      'PRIVATE_KEY',
      'WEBHOOK_SECRET',
      'CLIENT_ID',
      'CLIENT_SECRET',
      'PUBLIC_URL',
    ])
      expect(bot.environment).toHaveProperty(name, null)
  })

  test('publishes pages and webhooks on this machine only, and never metrics', () => {
    const { PORT: port, METRICS_PORT: metricsPort } = bot.environment
    expect(bot.ports).toEqual([`127.0.0.1:3000:${port}`])
    expect(metricsPort).toMatch(/^\d+$/)
    expect(metricsPort).not.toBe(port)
  })
})

describe('compose.postgres.yaml', () => {
  const { bot, database } = readComposeFile('compose.postgres.yaml').services

  test('passes the password outside the URL, and requires it', () => {
    expect(bot.environment['DATABASE_URL']).toBe('postgres://catalog-bot@database:5432/catalog-bot')
    const password = bot.environment['PGPASSWORD']
    expect(password).toMatch(/^\$\{POSTGRES_PASSWORD:\?/)
    expect(database?.environment['POSTGRES_PASSWORD']).toBe(password)
  })

  test('does not publish the database', () => {
    expect(bot.ports).toBeUndefined()
    expect(database?.ports).toBeUndefined()
    expect(database?.volumes).toEqual(['database:/var/lib/postgresql/data'])
  })
})
