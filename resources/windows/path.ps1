# Adds the folder of this script, which has vivarium.cmd, to the user's Path, or removes it: path.ps1 add, path.ps1 remove.
param([Parameter(Mandatory)][ValidateSet('add', 'remove')][string]$What)
$ErrorActionPreference = 'Stop'

# [Environment] would replace variables by their values.
$key = [Microsoft.Win32.Registry]::CurrentUser.OpenSubKey('Environment', $true)
$path = [string]$key.GetValue('Path', '', [Microsoft.Win32.RegistryValueOptions]::DoNotExpandEnvironmentNames)
$folders = @($path.Split(';') | Where-Object { $_ -ne '' -and $_.TrimEnd('\') -ne $PSScriptRoot })
if ($What -eq 'add') { $folders += $PSScriptRoot }
$key.SetValue('Path', ($folders -join ';'), [Microsoft.Win32.RegistryValueKind]::ExpandString)
$key.Close()

# Notifies other programs: a change of any variable does, even the removal of one that does not exist.
[Environment]::SetEnvironmentVariable('VIVARIUM_PATH_CHANGED', $null, 'User')
