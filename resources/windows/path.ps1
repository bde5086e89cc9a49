# Adds the folder of this script, which has vivarium.cmd, to the user's Path, or removes it: path.ps1 add, path.ps1 remove.
param([Parameter(Mandatory)][ValidateSet('add', 'remove')][string]$What)
$ErrorActionPreference = 'Stop'

# [Environment] would write the values of variables in their place.
$key = [Microsoft.Win32.Registry]::CurrentUser.OpenSubKey('Environment', $true)
$path = [string]$key.GetValue('Path', '', [Microsoft.Win32.RegistryValueOptions]::DoNotExpandEnvironmentNames)
$folders = @($path.Split(';') | Where-Object { $_ -ne '' -and $_.TrimEnd('\') -ne $PSScriptRoot })
if ($What -eq 'add') { $folders += $PSScriptRoot }
$key.SetValue('Path', ($folders -join ';'), [Microsoft.Win32.RegistryValueKind]::ExpandString)
$key.Close()

# Tells other programs: setting a variable does, even one that is not there.
[Environment]::SetEnvironmentVariable('VIVARIUM_PATH_CHANGED', $null, 'User')
