/** A fresh project of a framework, and the command that its users type. */
export interface FrameworkProject {
  name: string;
  /** Commands that create it in the parent folder, with the folder's name as `NAME`; they need the registry. */
  create?: readonly string[];
  /** Files to write first, where the framework's own templates are not in a registry. */
  files?: Readonly<Record<string, string>>;
  /** Commands to run in its folder, after both. */
  install?: readonly string[];
  command: readonly string[];
  /** A required program; without it the project is skipped. */
  needs?: string;
  /** A text of its page; the part that is replaced in a file, and the replacement. */
  page: string;
  edit?: { file: string; from: string; to: string };
}

/** The number tells one change from the next. */
const TO = 'Changed NUMBER';

const pack = (dependencies: readonly string[]) => `npm install --no-audit --no-fund ${dependencies.join(' ')}`;
const MODULE = '{ "private": true, "type": "module" }\n';

export const PROJECTS: readonly FrameworkProject[] = [
  {
    name: 'vite',
    create: ['npx --yes create-vite@latest NAME --template vanilla --no-interactive'],
    install: [pack([])],
    command: ['npm', 'run', 'dev'],
    page: 'Get started',
    edit: { file: 'src/main.js', from: 'Get started', to: TO },
  },
  {
    name: 'next',
    create: [
      'npx --yes create-next-app@latest NAME --ts --no-eslint --no-tailwind --app --no-src-dir --use-npm --no-import-alias --yes',
    ],
    command: ['npm', 'run', 'dev'],
    page: 'To get started',
    edit: { file: 'app/page.tsx', from: 'To get started', to: TO },
  },
  {
    name: 'nuxt',
    files: {
      'package.json': '{ "private": true, "type": "module", "scripts": { "dev": "nuxt dev" } }\n',
      'nuxt.config.ts': "export default defineNuxtConfig({ compatibilityDate: '2026-11-01', telemetry: false });\n",
      'app/app.vue': '<template>\n  <h1>Welcome to Nuxt</h1>\n</template>\n',
    },
    install: [pack(['nuxt'])],
    command: ['npm', 'run', 'dev'],
    page: 'Welcome to Nuxt',
    edit: { file: 'app/app.vue', from: 'Welcome to Nuxt', to: TO },
  },
  {
    name: 'astro',
    files: {
      'package.json': '{ "private": true, "type": "module", "scripts": { "dev": "astro dev" } }\n',
      'src/pages/index.astro': '<html><head><title>Astro</title></head><body><h1>Hello, Astro</h1></body></html>\n',
    },
    install: [pack(['astro'])],
    command: ['npm', 'run', 'dev'],
    page: 'Hello, Astro',
    edit: { file: 'src/pages/index.astro', from: 'Hello, Astro', to: TO },
  },
  {
    name: 'sveltekit',
    create: ['npx --yes sv@latest create NAME --template minimal --types ts --no-add-ons --no-install'],
    install: [pack([])],
    command: ['npm', 'run', 'dev'],
    page: 'Welcome to SvelteKit',
    edit: { file: 'src/routes/+page.svelte', from: 'Welcome to SvelteKit', to: TO },
  },
  {
    name: 'react-router',
    files: {
      'package.json': '{ "private": true, "type": "module", "scripts": { "dev": "react-router dev" } }\n',
      'vite.config.ts':
        "import { reactRouter } from '@react-router/dev/vite';\nimport { defineConfig } from 'vite';\nexport default defineConfig({ plugins: [reactRouter()] });\n",
      'app/routes.ts': "import { index } from '@react-router/dev/routes';\nexport default [index('home.tsx')];\n",
      'app/home.tsx': 'export default function Home() {\n  return <h1>Hello, React Router</h1>;\n}\n',
      'app/root.tsx':
        "import { Outlet, Scripts } from 'react-router';\nexport default function Root() {\n  return <html><head><title>App</title></head><body><Outlet /><Scripts /></body></html>;\n}\n",
    },
    install: [
      pack(['react-router', '@react-router/node', 'react', 'react-dom', 'isbot']),
      pack(['-D', '@react-router/dev', 'vite', 'typescript']),
    ],
    command: ['npm', 'run', 'dev'],
    page: 'Hello, React Router',
    edit: { file: 'app/home.tsx', from: 'Hello, React Router', to: TO },
  },
  {
    name: 'angular',
    create: ['npx --yes @angular/cli@latest new NAME --defaults --skip-git --ssr=false'],
    command: ['npm', 'start'],
    page: 'Hello, NAME',
    edit: { file: 'src/app/app.html', from: 'Hello,', to: `${TO},` },
  },
  {
    name: 'express',
    files: {
      'package.json': MODULE,
      'server.js':
        "import express from 'express';\nconst app = express();\napp.get('/', (request, response) => response.send('Hello, Express'));\napp.listen(process.env.PORT ?? 3000);\n",
    },
    install: [pack(['express'])],
    command: ['node', 'server.js'],
    page: 'Hello, Express',
  },
  {
    name: 'fastify',
    files: {
      'package.json': MODULE,
      'server.js':
        "import Fastify from 'fastify';\nconst app = Fastify();\napp.get('/', () => 'Hello, Fastify');\nawait app.listen({ port: 3000 });\n",
    },
    install: [pack(['fastify'])],
    command: ['node', '--watch', 'server.js'],
    page: 'Hello, Fastify',
  },
  {
    name: 'flask',
    needs: '/usr/bin/flask',
    files: {
      'app.py':
        "from flask import Flask\napp = Flask(__name__)\n@app.route('/')\ndef home():\n    return 'Hello, Flask'\n",
    },
    command: ['/usr/bin/flask', '--debug', 'run'],
    page: 'Hello, Flask',
  },
  {
    name: 'django',
    needs: '/usr/bin/django-admin',
    create: ['django-admin startproject site_ && mv site_ NAME'],
    command: ['/usr/bin/python3', 'manage.py', 'runserver'],
    page: 'The install worked successfully',
  },
  {
    name: 'go',
    needs: '/usr/bin/go',
    files: {
      'go.mod': 'module example.test/app\n',
      'main.go':
        'package main\n\nimport (\n\t"fmt"\n\t"net/http"\n)\n\nfunc main() {\n\thttp.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "Hello, Go") })\n\thttp.ListenAndServe(":8090", nil)\n}\n',
    },
    command: ['go', 'run', '.'],
    page: 'Hello, Go',
  },
];
